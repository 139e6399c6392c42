/* sha256.c - the examples of FIPS 180-4, lengths around a block, and files
 * that can't be read. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/sha256.h"
#include "t/unit/tap.h"

/* A file that holds `text` `times` times. */
static void fill(const char *path, const char *text, size_t times)
{
    FILE *f = fopen(path, "w");

    if (!f)
        exit(99);
    while (times-- > 0)
        fputs(text, f);
    if (fclose(f) != 0)
        exit(99);
}

static void examples(const char *path)
{
    static const struct {
        const char *text;
        size_t times;
        const char *digest;
    } rows[] = {
        {"", 0,
         "e3b0c44298fc1c149afbf4c8996fb924"
         "27ae41e4649b934ca495991b7852b855"},
        {"abc", 1,
         "ba7816bf8f01cfea414140de5dae2223"
         "b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039"
         "a33ce45964ff2167f6ecedd419db06c1"},
        {"a", 1000000,
         "cdc76e5c9914fb9281a1c7e284d73e67"
         "f1809a48a497200e046d39ccc7112cd0"},
        {"a", 55,
         "9f4390f8d30c2dd92ec9f095b65e2b9a"
         "e9b0a925a5258e241c9f1e910f734318"},
        {"a", 56,
         "b35439a4ac6f0948b6d6f9e3c6af0f5f"
         "590ce20f1bde7090ef7970686ec6738a"},
        {"a", 63,
         "7d3e74a05d7db15bce4ad9ec0658ea98"
         "e3f06eeecf16b4c6fff2da457ddc2f34"},
        {"a", 64,
         "ffe054fe7ae0cb6dc65c3af9b61d5209"
         "f439851db43d0ba5997337df154668eb"},
        {"a", 119,
         "31eba51c313a5c08226adf18d4a359cf"
         "dfd8d2e816b13f4af952f7ea6584dcfb"},
    };
    char hex[65];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fill(path, rows[i].text, rows[i].times);
        ok(assay_sha256_file(path, hex) == 0, "%zu x '%.9s'", rows[i].times,
           rows[i].text);
        is_text(hex, rows[i].digest, "its digest");
    }
}

static void unreadable(const char *path)
{
    char hex[65] = "untouched";

    ok(assay_sha256_file("/nonexistent/file", hex) < 0 && errno == ENOENT,
       "no such file: ENOENT");
    ok(assay_sha256_file("/", hex) < 0 && errno == EISDIR,
       "a directory: EISDIR");
    is_text(hex, "untouched", "no digest after failures");
    fill(path, "x", 1);
    for (int i = 0; i < 3000; i++)
        assay_sha256_file(path, hex);
    ok(assay_sha256_file(path, hex) == 0, "descriptors are given back");
}

int main(void)
{
    char path[] = "sha256-XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0)
        return 99;
    close(fd);
    examples(path);
    unreadable(path);
    unlink(path);
    return done_testing();
}
