/* mpi_rma_faults.c - what can go wrong in one-sided moves, on demand: linked
 * before MPI.
 *
 * RMA_FAULT=KIND:OPERATION (put, get), for the calls of MPI_Put or MPI_Get of
 * more than 0 bytes from the third on, of all ranks:
 *
 *     first, middle, last   that byte of the block is changed
 *     skip                  nothing is moved
 *     short                 all but the last byte is moved
 *     ends                  only the first and the last eight bytes are moved
 *     die                   the process is killed
 *     hang                  the call never returns
 *     slow                  the flush behind it takes 2 ms more
 *
 * RMA_FAULT=unpad: windows of MPI_Win_allocate are one byte shorter than what
 * is asked for.
 */
#include "config.h"

#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CALM = 2, /* calls that are as they should be */
    END = 8
};

/* Does this call go wrong? Counted for both operations together; the number
 * need not be exact where threads call. */
static const char *fault_of(const char *operation, int bytes)
{
    static int calls;
    const char *fault = getenv("RMA_FAULT");
    const char *colon = fault ? strchr(fault, ':') : NULL;

    if (!colon || bytes == 0 || strcmp(colon + 1, operation) != 0 ||
        calls++ < CALM)
        return "none:";
    return fault;
}

static int is(const char *fault, const char *kind)
{
    return strncmp(fault, kind, strlen(kind)) == 0;
}

/* Where in a block of so many bytes the fault is, or -1. */
static int place(const char *fault, int bytes)
{
    return is(fault, "first")    ? 0
           : is(fault, "middle") ? bytes / 2
           : is(fault, "last")   ? bytes - 1
                                 : -1;
}

/* Bytes at each end that are all that moves of a block of so many, or 0. */
static int ends(const char *fault, int bytes)
{
    return is(fault, "ends") && bytes > 2 * END ? END : 0;
}

static void end(const char *fault)
{
    if (is(fault, "die"))
        raise(SIGKILL);
    while (is(fault, "hang"))
        pause();
}

int MPI_Put(const void *from, int n, MPI_Datatype type, int target, MPI_Aint at,
            int m, MPI_Datatype there, MPI_Win win)
{
    const char *fault = fault_of("put", n);
    int where = place(fault, n), result;
    unsigned char wrong;

    end(fault);
    if (is(fault, "skip"))
        return MPI_SUCCESS;
    if (is(fault, "short"))
        n--, m--;
    if (ends(fault, n)) {
        PMPI_Put(from, END, type, target, at, END, there, win);
        return PMPI_Put((const char *)from + n - END, END, type, target,
                        at + n - END, END, there, win);
    }
    result = PMPI_Put(from, n, type, target, at, m, there, win);
    if (where < 0)
        return result;
    PMPI_Win_flush(target, win);
    wrong = (unsigned char)(((const unsigned char *)from)[where] ^ 1);
    PMPI_Put(&wrong, 1, type, target, at + where, 1, there, win);
    return PMPI_Win_flush(target, win);
}

int MPI_Get(void *to, int n, MPI_Datatype type, int target, MPI_Aint at, int m,
            MPI_Datatype there, MPI_Win win)
{
    const char *fault = fault_of("get", n);
    int where = place(fault, n), result;

    end(fault);
    if (is(fault, "skip"))
        return MPI_SUCCESS;
    if (is(fault, "short"))
        n--, m--;
    if (ends(fault, n)) {
        PMPI_Get(to, END, type, target, at, END, there, win);
        return PMPI_Get((char *)to + n - END, END, type, target, at + n - END,
                        END, there, win);
    }
    result = PMPI_Get(to, n, type, target, at, m, there, win);
    if (where < 0)
        return result;
    result = PMPI_Win_flush(target, win);
    ((unsigned char *)to)[where] ^= 1;
    return result;
}

int MPI_Win_flush(int target, MPI_Win win)
{
    const char *fault = getenv("RMA_FAULT");

    if (fault && is(fault, "slow"))
        usleep(2000);
    return PMPI_Win_flush(target, win);
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                     void *base, MPI_Win *win)
{
    const char *fault = getenv("RMA_FAULT");

    if (fault && is(fault, "unpad") && size > 0)
        size--;
    return PMPI_Win_allocate(size, unit, info, comm, base, win);
}
