/* mpi_init.c - one rank of an MPI job: says that it runs, and that MPI_Init is
 * behind it.
 *
 * usage: mpi_init
 *
 * The words are those of pmi2_rank.c; pmi2 reads them. */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int say(const char *word, int rank, int size)
{
    char host[256] = "", line[512];

    gethostname(host, sizeof host - 1);
    int n = snprintf(line, sizeof line, "launch %s %d %d 0 0 %s\n", word, rank,
                     size, host);
    return write(STDOUT_FILENO, line, (size_t)n) == n;
}

int main(int argc, char **argv)
{
    int rank, size;

    if (!say("first", -1, 0))
        return 99;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return 99;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int said = say("init", rank, size);
    MPI_Finalize();
    return said ? 0 : 99;
}
