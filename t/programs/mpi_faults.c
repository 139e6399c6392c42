/* mpi_faults.c - what can go wrong in a job, on demand: linked before MPI.
 *
 * MPI_FAULT=KIND:RANK, for the calls of MPI_Waitall of that rank (-1: all):
 *
 *     data  a byte of what the third one has received is changed
 *     die   the third one kills the process
 *     hang  the third one never returns
 *     slow  each of them takes 2 ms more
 */
#include "config.h"

#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned char *received; /* by the last receive that was posted */

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    if (count > 0)
        received = buf;
    return PMPI_Irecv(buf, count, type, source, tag, comm, request);
}

static int is_for_me(const char *fault)
{
    int rank, whom = atoi(strchr(fault, ':') + 1);

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return whom < 0 || whom == rank;
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    static int calls;
    const char *fault = getenv("MPI_FAULT");
    int result = PMPI_Waitall(n, requests, statuses);

    if (!fault || !strchr(fault, ':') || !is_for_me(fault))
        return result;
    calls++;
    if (strncmp(fault, "slow", 4) == 0)
        usleep(2000);
    if (calls != 3)
        return result;
    if (strncmp(fault, "data", 4) == 0 && received)
        *received ^= 1;
    if (strncmp(fault, "die", 3) == 0)
        raise(SIGKILL);
    while (strncmp(fault, "hang", 4) == 0)
        pause();
    return result;
}
