/* pmi2_rank.c - one rank of a job, on libpmi2 alone: says that it runs, puts its
 * keys, fences, gets every rank's, and says what it found.
 *
 * usage: pmi2_rank KEYS SIZE
 *
 * As small as can be, since its start is what is measured. Each word is one line
 * and one write: `launch WORD RANK SIZE MISSING WRONG HOST`. pmi2 reads them.
 * Exit status: 0, also where keys are wrong, which pmi2 judges; 2 usage; 99 where
 * PMI-2 fails. */
#include "config.h"

#include <slurm/pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rank {
    int rank, size;
    long keys, bytes;
    char job[PMI2_MAX_ATTRVALUE];
    char host[256];
    unsigned long missing, wrong;
};

static void say(const struct rank *me, const char *word)
{
    char line[512];
    int n = snprintf(line, sizeof line, "launch %s %d %d %lu %lu %s\n", word,
                     me->rank, me->size, me->missing, me->wrong, me->host);

    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        _exit(99);
}

static void die(const struct rank *me, const char *what, int code)
{
    fprintf(stderr, "pmi2_rank: rank %d on %s: %s fails with %d\n", me->rank,
            me->host, what, code);
    exit(99);
}

/* Key k of a rank, and the text that stands under it: no two are alike. */
static void make(const struct rank *me, int rank, long k, char *key,
                 char *value)
{
    int n = snprintf(key, PMI2_MAX_KEYLEN, "assay-%d-%ld", rank, k);

    for (long i = 0; i < me->bytes; i++)
        value[i] = (char)('a' + (i * 7 + rank * 11 + k * 13 + n) % 26);
    value[me->bytes] = '\0';
    n = snprintf(key + PMI2_MAX_KEYLEN, PMI2_MAX_KEYLEN, "%d.%ld.", rank, k);
    memcpy(value, key + PMI2_MAX_KEYLEN,
           (size_t)(n < me->bytes ? n : me->bytes));
}

static void put(const struct rank *me)
{
    char key[2 * PMI2_MAX_KEYLEN], value[PMI2_MAX_VALLEN + 1];

    for (long k = 0; k < me->keys; k++) {
        make(me, me->rank, k, key, value);
        int code = PMI2_KVS_Put(key, value);
        if (code != PMI2_SUCCESS)
            die(me, "PMI2_KVS_Put", code);
    }
}

static void get_one(struct rank *me, int rank, long k)
{
    char key[2 * PMI2_MAX_KEYLEN], value[PMI2_MAX_VALLEN + 1];
    char got[PMI2_MAX_VALLEN + 1] = "";
    int length = 0;

    make(me, rank, k, key, value);
    if (PMI2_KVS_Get(me->job, PMI2_ID_NULL, key, got, PMI2_MAX_VALLEN,
                     &length) != PMI2_SUCCESS)
        me->missing++;
    else if (strcmp(got, value) != 0)
        me->wrong++;
}

/* From the next rank on, so that not all ask for the same one. */
static void get(struct rank *me)
{
    for (int i = 1; i <= me->size; i++)
        for (long k = 0; k < me->keys; k++)
            get_one(me, (me->rank + i) % me->size, k);
}

static long number(const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1 || value > most) {
        fprintf(stderr, "pmi2_rank: '%s' is no number from 1 to %ld\n", text,
                most);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    struct rank me = {.rank = -1};
    int spawned = 0, application = 0;

    gethostname(me.host, sizeof me.host - 1);
    if (argc != 3) {
        fputs("usage: pmi2_rank KEYS SIZE\n", stderr);
        return 2;
    }
    me.keys = number(argv[1], 1000);
    me.bytes = number(argv[2], PMI2_MAX_VALLEN - 1);
    say(&me, "first");
    int code = PMI2_Init(&spawned, &me.size, &me.rank, &application);
    if (code != PMI2_SUCCESS)
        die(&me, "PMI2_Init", code);
    /* Outside of a job it succeeds all the same, and the job is of one rank. */
    if (PMI2_Job_GetId(me.job, sizeof me.job) != PMI2_SUCCESS) {
        say(&me, "alone");
        return 0;
    }
    put(&me);
    code = PMI2_KVS_Fence();
    if (code != PMI2_SUCCESS)
        die(&me, "PMI2_KVS_Fence", code);
    say(&me, "fence");
    get(&me);
    say(&me, "get");
    PMI2_Finalize();
    return 0;
}
