/* rma_loop.c - the textbook loop of one-sided bandwidth, for rma-peers where no
 * other program is at hand: WINDOW puts or gets from and to one place, a flush,
 * ROUNDS times, between two barriers. It verifies nothing.
 *
 * usage: rma_loop put|get SIZE WINDOW ROUNDS; prints "SIZE MB/s"
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int put = argc == 5 && strcmp(argv[1], "put") == 0, rank;
    int size = argc == 5 ? atoi(argv[2]) : 0;
    int window = argc == 5 ? atoi(argv[3]) : 0;
    int rounds = argc == 5 ? atoi(argv[4]) : 0;
    double start = 0.0;
    char *mine, *local = calloc(1, (size_t)size + 1);
    MPI_Win win;

    if (size <= 0 || window <= 0 || rounds <= 0 || !local)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate((MPI_Aint)size + 64 - size % 64, 1, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &mine, &win);
    memset(mine, 1, (size_t)size);
    memset(local, 2, (size_t)size); /* else a PUT reads one page of zeros */
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = -rounds / 10 - 1; rank == 0 && r < rounds; r++) {
        if (r == 0)
            start = MPI_Wtime();
        for (int w = 0; w < window; w++)
            if (put)
                MPI_Put(local, size, MPI_BYTE, 1, 0, size, MPI_BYTE, win);
            else
                MPI_Get(local, size, MPI_BYTE, 1, 0, size, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    if (rank == 0)
        printf("%d %.2f\n", size,
               (double)size * window * rounds / (MPI_Wtime() - start) / 1e6);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    free(local);
    return 0;
}
