/* mpi_arrays.c - a word of stream's arrays that goes wrong, on demand: linked
 * before MPI, with --wrap=assay_arrays_map.
 *
 * MPI_ARRAY=ARRAY:RANK:N: after barrier N of that rank, a bit of the array's
 * last element changes. MPI_ARRAY=unbound: no thread is bound to a CPU, though it
 * is told so. */
#include "config.h"

#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/team.h"

static struct assay_arrays *arrays;

int __real_assay_arrays_map(struct assay_arrays *a, enum assay_type type,
                            uint64_t n, enum assay_hugepages huge, int node);
int __wrap_assay_arrays_map(struct assay_arrays *a, enum assay_type type,
                            uint64_t n, enum assay_hugepages huge, int node);

int __wrap_assay_arrays_map(struct assay_arrays *a, enum assay_type type,
                            uint64_t n, enum assay_hugepages huge, int node)
{
    arrays = a;
    return __real_assay_arrays_map(a, type, n, huge, node);
}

int MPI_Barrier(MPI_Comm comm)
{
    static int calls;
    const char *fault = getenv("MPI_ARRAY");
    int code = PMPI_Barrier(comm), array, whom, when, rank;

    if (!arrays || !fault ||
        sscanf(fault, "%d:%d:%d", &array, &whom, &when) != 3)
        return code;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == whom && ++calls == when)
        ((uint64_t *)arrays->base[array])[arrays->n - 1] ^= UINT64_C(1) << 40;
    return code;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    const char *fault = getenv("MPI_ARRAY");

    if (fault && strcmp(fault, "unbound") == 0)
        return 0;
    return (int)syscall(SYS_sched_setaffinity, pid, size, set);
}
