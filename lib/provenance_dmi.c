/* provenance_dmi.c - memory modules out of the firmware's SMBIOS table.
 *
 * A table is a row of structures: type, length of the fixed part, a handle;
 * the fixed part; texts, each ended by a NUL; and one more NUL. Type 17 is a
 * memory slot (DMTF DSP0134, 7.18). */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/provenance_dmi.h"

enum {
    HEADER = 4,
    MEMORY_DEVICE = 17,
    SIZE = 0x0c,          /* word: MB, or kB with the top bit set */
    SPEED = 0x15,         /* word: MT/s it is capable of */
    EXTENDED_SIZE = 0x1c, /* double word: MB, where SIZE is 0x7fff */
    CONFIGURED = 0x20,    /* word: MT/s it runs at */
    KINDS = 8,
};

struct kind {
    uint32_t megabytes;
    unsigned speed, count;
};

struct slots {
    struct kind kinds[KINDS];
    unsigned nkinds, empty, others;
};

static unsigned word_at(const unsigned char *s, unsigned offset)
{
    return offset + 2u <= s[1] ? s[offset] | (unsigned)s[offset + 1] << 8 : 0;
}

static uint32_t size_of(const unsigned char *s)
{
    unsigned size = word_at(s, SIZE);

    if (size == 0x7fff)
        return word_at(s, EXTENDED_SIZE) |
               (uint32_t)(word_at(s, EXTENDED_SIZE + 2) & 0x7fff) << 16;
    return size & 0x8000 ? (size & 0x7fff) / 1024 : size;
}

static void count_kind(struct slots *slots, uint32_t megabytes, unsigned speed)
{
    for (unsigned i = 0; i < slots->nkinds; i++)
        if (slots->kinds[i].megabytes == megabytes &&
            slots->kinds[i].speed == speed) {
            slots->kinds[i].count++;
            return;
        }
    if (slots->nkinds < KINDS)
        slots->kinds[slots->nkinds++] = (struct kind){megabytes, speed, 1};
    else
        slots->others++;
}

static void count_slot(struct slots *slots, const unsigned char *s)
{
    unsigned speed = word_at(s, CONFIGURED);

    if (word_at(s, SIZE) == 0)
        slots->empty++;
    else if (word_at(s, SIZE) == 0xffff)
        count_kind(slots, 0, 0);
    else
        count_kind(slots, size_of(s), speed ? speed : word_at(s, SPEED));
}

/* Where the structure at s ends, texts and all; or end. */
static const unsigned char *behind(const unsigned char *s,
                                   const unsigned char *end)
{
    for (s += s[1]; end - s >= 2; s++)
        if (s[0] == 0 && s[1] == 0)
            return s + 2;
    return end;
}

static size_t print(char *buf, size_t size, const struct slots *slots)
{
    size_t n = 0;

    for (unsigned i = 0; i < slots->nkinds && n < size; i++) {
        const struct kind *k = &slots->kinds[i];

        n += (size_t)snprintf(buf + n, size - n, "%s%u x ", n ? ", " : "",
                              k->count);
        if (n < size && k->megabytes)
            n += (size_t)snprintf(buf + n, size - n, "%u MB", k->megabytes);
        else if (n < size)
            n += (size_t)snprintf(buf + n, size - n, "unknown size");
        if (n < size && k->speed)
            n += (size_t)snprintf(buf + n, size - n, " %u MT/s", k->speed);
    }
    if (n < size && slots->others)
        n += (size_t)snprintf(buf + n, size - n, ", %u others", slots->others);
    if (n < size && slots->empty)
        n += (size_t)snprintf(buf + n, size - n, "%s%u empty", n ? ", " : "",
                              slots->empty);
    return n;
}

char *assay_dimms(const unsigned char *table, size_t n, char *buf, size_t size)
{
    const unsigned char *s = table, *end = table + n;
    struct slots slots = {.nkinds = 0};

    while (end - s >= HEADER && s[1] >= HEADER && s[1] <= end - s) {
        if (s[0] == MEMORY_DEVICE)
            count_slot(&slots, s);
        s = behind(s, end);
    }
    if (print(buf, size, &slots) == 0)
        snprintf(buf, size, "unknown (not exposed)");
    return buf;
}
