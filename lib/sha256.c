/* sha256.c - SHA-256 after FIPS 180-4. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lib/sha256.h"

struct sha256 {
    uint32_t h[8];
    uint64_t bytes; /* so far */
    unsigned char block[64];
};

/* First 32 bits of the fractional parts of the cube roots of the first 64
 * primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++, block += 4)
        w[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
               (uint32_t)block[2] << 8 | block[3];
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];

        w[t] = w[t - 16] + w[t - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void compress(struct sha256 *s)
{
    uint32_t w[64], v[8];

    schedule(s->block, w);
    memcpy(v, s->h, sizeof(v));
    for (int t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + constants[t] + w[t];
        uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        s->h[i] += v[i];
}

static void add(struct sha256 *s, const unsigned char *bytes, size_t n)
{
    while (n > 0) {
        size_t at = s->bytes % 64, take = 64 - at < n ? 64 - at : n;

        memcpy(s->block + at, bytes, take);
        s->bytes += take;
        bytes += take;
        n -= take;
        if (s->bytes % 64 == 0)
            compress(s);
    }
}

static void finish(struct sha256 *s, char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(s->bytes * 8 >> (56 - 8 * i));
    add(s, padding, 1 + (119 - s->bytes % 64) % 64);
    add(s, length, sizeof(length));
    for (int i = 0; i < 64; i++)
        hex[i] = digits[s->h[i / 8] >> (28 - i % 8 * 4) & 15];
    hex[64] = '\0';
}

static int add_file(struct sha256 *s, int fd)
{
    unsigned char buffer[16384];
    ssize_t n;

    do {
        n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            add(s, buffer, (size_t)n);
    } while (n != 0);
    return 0;
}

int assay_sha256_file(const char *path, char hex[65])
{
    struct sha256 s = {.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    int fd = open(path, O_RDONLY | O_CLOEXEC), status, error;

    if (fd < 0)
        return -1;
    status = add_file(&s, fd);
    error = errno;
    close(fd);
    if (status == 0)
        finish(&s, hex);
    errno = error;
    return status;
}
