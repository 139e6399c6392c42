/* mpi_nodes.c - nodes that there are not: linked before MPI.
 *
 * MPI_NODES=0,1,0,1 puts rank 0 on n1, rank 1 on n2, rank 2 on n1, rank 3 on
 * n2: by the names that hosts have until MPI starts, and by what MPI then says
 * of who shares memory with whom. Messages go the way they always go. Each node
 * has a kernel of its own, too, unless MPI_KERNEL names one for all of them. */
#include "config.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/job_facts.h"

static int started; /* MPI itself needs the true name */

/* The node of a rank, or -1. */
static int node_of(int rank)
{
    const char *list = getenv("MPI_NODES");

    for (; list && rank > 0; rank--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return list && rank == 0 ? atoi(list) : -1;
}

/* This process's rank, as launchers of Open MPI and of MPICH number it. */
static int rank_here(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    rank = rank ? rank : getenv("PMI_RANK");
    return rank ? atoi(rank) : -1;
}

int gethostname(char *name, size_t size)
{
    int node = started ? -1 : node_of(rank_here());
    struct utsname system;

    uname(&system);
    if (node >= 0)
        snprintf(name, size, "n%d", node + 1);
    else
        snprintf(name, size, "%s", system.nodename);
    return 0;
}

void assay_job_kernel(char kernel[ASSAY_KERNEL])
{
    const char *same = getenv("MPI_KERNEL");
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(kernel, ASSAY_KERNEL, "%s", same ? same : "kernel");
    if (!same)
        snprintf(kernel, ASSAY_KERNEL, "kernel %d", node_of(rank));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    started = 1;
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                        MPI_Comm *new_comm)
{
    int rank, node;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    node = node_of(rank);
    if (node < 0)
        return PMPI_Comm_split_type(comm, type, key, info, new_comm);
    return PMPI_Comm_split(comm, node, key, new_comm);
}
