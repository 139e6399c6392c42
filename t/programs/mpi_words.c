/* mpi_words.c - one word that goes wrong, on demand: linked before MPI.
 *
 * MPI_WORD=KIND:RANK:N, for call N (from 1; 0: all) of that rank:
 *
 *     table       after MPI_Win_sync, counted from the last MPI_Win_allocate, a
 *                 bit of that window's fifth word changes
 *     send        of what MPI_Isend sends, more than a word, a bit of the last
 *     get         MPI_Get reads the word beside
 *     put         MPI_Put does nothing
 *     accumulate  MPI_Accumulate does nothing
 *     fetch       MPI_Fetch_and_op does nothing
 *     short       of a trial's times, the end is the start
 *     late        of a trial's times, both are 1 s later
 *     count       of accesses of the whole job, one more is counted
 */
#include "config.h"

#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/span.h"

enum kind {
    TABLE,
    SEND,
    GET,
    PUT,
    ACCUMULATE,
    FETCH,
    SHORT,
    LATE,
    COUNT,
    KINDS
};

static const char *const names[KINDS] = {"table", "send",       "get",
                                         "put",   "accumulate", "fetch",
                                         "short", "late",       "count"};
static uint64_t *table;
static int calls[KINDS];

/* Is this call of that kind the one? */
static int goes_wrong(enum kind kind)
{
    const char *word = getenv("MPI_WORD");
    char name[16];
    int whom, when, rank;

    if (!word || sscanf(word, "%15[a-z]:%d:%d", name, &whom, &when) != 3 ||
        strcmp(name, names[kind]) != 0)
        return 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == whom && (++calls[kind] == when || when == 0);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                     void *base, MPI_Win *win)
{
    int code = PMPI_Win_allocate(size, unit, info, comm, base, win);

    memcpy(&table, base, sizeof(table));
    calls[TABLE] = 0;
    return code;
}

int MPI_Win_sync(MPI_Win win)
{
    int code = PMPI_Win_sync(win);

    if (goes_wrong(TABLE))
        table[4] ^= 1u << 7;
    return code;
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)buf;

    if (type == MPI_UINT64_T && count > 1 && goes_wrong(SEND))
        bytes[8 * (size_t)(count - 1)] ^= 1;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

int MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int m,
            MPI_Datatype its, MPI_Win win)
{
    if (goes_wrong(GET))
        at ^= 8;
    return PMPI_Get(to, n, type, rank, at, m, its, win);
}

int MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint at,
            int m, MPI_Datatype its, MPI_Win win)
{
    if (goes_wrong(PUT))
        return MPI_SUCCESS;
    return PMPI_Put(from, n, type, rank, at, m, its, win);
}

int MPI_Accumulate(const void *from, int n, MPI_Datatype type, int rank,
                   MPI_Aint at, int m, MPI_Datatype its, MPI_Op op, MPI_Win win)
{
    if (goes_wrong(ACCUMULATE))
        return MPI_SUCCESS;
    return PMPI_Accumulate(from, n, type, rank, at, m, its, op, win);
}

int MPI_Fetch_and_op(const void *from, void *to, MPI_Datatype type, int rank,
                     MPI_Aint at, MPI_Op op, MPI_Win win)
{
    if (goes_wrong(FETCH))
        return MPI_SUCCESS;
    return PMPI_Fetch_and_op(from, to, type, rank, at, op, win);
}

int MPI_Gather(const void *from, int n, MPI_Datatype type, void *to, int m,
               MPI_Datatype its, int root, MPI_Comm comm)
{
    struct span span;

    if (type != MPI_BYTE || n != (int)sizeof(span))
        return PMPI_Gather(from, n, type, to, m, its, root, comm);
    memcpy(&span, from, sizeof(span));
    if (goes_wrong(SHORT))
        span.end = span.start;
    if (goes_wrong(LATE))
        span.start += 1.0, span.end += 1.0;
    return PMPI_Gather(&span, n, type, to, m, its, root, comm);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Allreduce(from, to, n, type, op, comm);

    if (type == MPI_UINT64_T && (n == 2 || n == 3) && goes_wrong(COUNT))
        ((uint64_t *)to)[1]++;
    return code;
}
