/* sizes.c - lists of sizes: what they mean, and the word that is refused. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sizes.h"
#include "t/unit/tap.h"

#define MOST (UINT64_C(4) << 30)

static void accepted(const char *text, const char *want)
{
    char error[100] = "", got[400] = "";
    struct assay_sizes s;

    if (!ok(assay_sizes_parse(text, MOST, &s, error, sizeof(error)) == 0,
            "%s %s", text, error))
        return;
    for (size_t i = 0; i < s.n; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%llu",
                 i ? " " : "", (unsigned long long)s.bytes[i]);
    is_text(got, want, "its sizes");
    free(s.bytes);
}

static void refused(void)
{
    static const struct {
        const char *text, *word;
    } bad[] = {{"", "''"},           {",", "''"},        {"1,", "''"},
               {"x", "'x'"},         {"4..2", "'4..2'"}, {"0..8", "'0..8'"},
               {"8,8", "'8'"},       {"8,4", "'4'"},     {"-1", "'-1'"},
               {"1,2..x", "'x'"},    {"1..", "''"},      {"1...4", "'.4'"},
               {"1 ,2", "'1 '"},     {"1 2", "'1 2'"},   {"8G", "'8G'"},
               {"2G..8G", "4.0 GiB"}};
    struct assay_sizes s;
    char error[128];

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        ok(assay_sizes_parse(bad[i].text, MOST, &s, error, sizeof(error)) < 0 &&
               strstr(error, bad[i].word) && !s.bytes,
           "'%s' is refused: %s", bad[i].text, error);
}

int main(void)
{
    accepted("0,1..8,1K", "0 1 2 4 8 1024");
    accepted("3..13", "3 6 12");
    accepted("2G..4G", "2147483648 4294967296");
    accepted("8,1K..5K,1M", "8 1024 2048 4096 1048576");
    accepted("0,2,4..4M",
             "0 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 "
             "65536 131072 262144 524288 1048576 2097152 4194304");
    refused();
    return done_testing();
}
