/* mpi_faults.c - what can go wrong in a job, on demand: linked before MPI.
 *
 * MPI_FAULT=KIND:RANK, for the calls of MPI_Waitall and MPI_Wait of that rank
 * (-1: all), counted together:
 *
 *     data  a byte of what the third one has received is changed
 *     middle  the same, in the middle of the message
 *     stale  what the third receive posted brings goes elsewhere
 *     die   the third one kills the process
 *     hang  the third one never returns
 *     slow  each of them takes 2 ms more
 *
 * With MPI_FAULT_CALL=N it is the Nth instead of the third. With
 * MPI_FAULT_BYTES=N those calls count that come after a receive or a send
 * of so many bytes was posted, and others don't.
 */
#include "config.h"

#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char *received; /* by the last receive that was posted */
static int posted;              /* bytes, or what it counts in */

static int is_for_me(const char *fault)
{
    int rank, whom = atoi(strchr(fault, ':') + 1);

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return whom < 0 || whom == rank;
}

/* Is something to go wrong with calls of this kind, by this rank? */
static const char *fault_now(void)
{
    const char *fault = getenv("MPI_FAULT"), *bytes = getenv("MPI_FAULT_BYTES");

    return fault && strchr(fault, ':') && is_for_me(fault) &&
                   (!bytes || atoi(bytes) == posted)
               ? fault
               : NULL;
}

static int the_call(void)
{
    const char *call = getenv("MPI_FAULT_CALL");

    return call ? atoi(call) : 3;
}

/* Where the receive is to put what it brings. */
static void *divert(void *buf)
{
    static int calls;
    const char *fault = fault_now();

    if (!fault || strncmp(fault, "stale", 5) != 0 || ++calls != the_call())
        return buf;
    return malloc((size_t)posted + 1); /* never freed */
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    if (count > 0)
        received = buf;
    posted = count;
    return PMPI_Irecv(divert(buf), count, type, source, tag, comm, request);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int target,
              int tag, MPI_Comm comm, MPI_Request *request)
{
    posted = count;
    return PMPI_Isend(buf, count, type, target, tag, comm, request);
}

static void after_wait(void)
{
    static int calls;
    const char *fault = fault_now();

    if (!fault)
        return;
    calls++;
    if (strncmp(fault, "slow", 4) == 0)
        usleep(2000);
    if (calls != the_call())
        return;
    if (strncmp(fault, "data", 4) == 0 && received)
        *received ^= 1;
    if (strncmp(fault, "middle", 6) == 0 && received)
        received[posted / 2] ^= 1;
    if (strncmp(fault, "die", 3) == 0)
        raise(SIGKILL);
    while (strncmp(fault, "hang", 4) == 0)
        pause();
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    int result = PMPI_Waitall(n, requests, statuses);

    after_wait();
    return result;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int result = PMPI_Wait(request, status);

    after_wait();
    return result;
}
