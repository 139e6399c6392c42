/* job.c - the parts of a job that need none: who is on which node, and what a
 * launcher says. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/launcher.h"
#include "lib/map.h"
#include "t/unit/tap.h"

/* Groups are numbers of no meaning: nodes are numbered by their lowest rank. */
static void block(void)
{
    static const size_t group[] = {7, 7, 7, 3, 3, 3};
    static const char *const host[] = {"a", "a", "a", "b", "b", "b"};
    struct assay_map m;

    ok(assay_map_build(&m, 6, group, host) == 0, "six ranks on two nodes");
    is_count(m.nodes, 2, "two nodes");
    is_count(m.ppn, 3, "three ranks each");
    is_text(m.placement, "block", "in blocks");
    is_text(m.name[0], "a", "the first is that of rank 0");
    ok(m.node[2] == 0 && m.local[2] == 2 && m.node[3] == 1 && m.local[3] == 0,
       "node and local rank");
    ok(m.first[1] == 3 && m.order[m.first[1] + 1] == 4, "and back");
    assay_map_free(&m);
    ok(!m.node && m.ranks == 0, "freed");
    assay_map_free(&m);
}

static void other_placements(void)
{
    static const size_t cyclic[] = {0, 1, 2, 0, 1, 2}, odd[] = {0, 1, 1, 0, 2},
                        one[] = {5, 5}, apart[] = {9, 8, 7};
    struct assay_map m;

    assay_map_build(&m, 6, cyclic, NULL);
    is_text(m.placement, "cyclic", "round the nodes");
    ok(m.ppn == 2 && m.order[m.first[1] + 1] == 4, "rank 4 is 1 on node 1");
    is_text(m.name[2], "node2", "a node without a name");
    assay_map_free(&m);
    assay_map_build(&m, 5, odd, NULL);
    is_text(m.placement, "arbitrary", "neither");
    is_count(m.ppn, 0, "uneven nodes have no ppn");
    ok(m.size[0] == 2 && m.size[1] == 2 && m.size[2] == 1, "but sizes");
    assay_map_free(&m);
    assay_map_build(&m, 2, one, NULL);
    ok(m.nodes == 1 && m.ppn == 2, "one node");
    assay_map_free(&m);
    assay_map_build(&m, 3, apart, NULL);
    ok(m.nodes == 3 && m.ppn == 1, "a node each");
    is_text(m.placement, "block", "is block");
    assay_map_free(&m);
    errno = 0;
    ok(assay_map_build(&m, 0, apart, NULL) < 0 && errno == EINVAL, "no ranks");
}

/* Rank r of n on node `f(r)`: what build finds must be what was put in. */
static void large(size_t n, size_t nodes)
{
    size_t *group = calloc(n, sizeof(*group)), wrong = 0;
    struct assay_map m;

    for (size_t r = 0; group && r < n; r++)
        group[r] = 1000000 + r * 7919 % nodes;
    ok(group && assay_map_build(&m, n, group, NULL) == 0, "%zu ranks", n);
    for (size_t r = 0; r < n; r++)
        wrong += m.order[m.first[m.node[r]] + m.local[r]] != r ||
                 group[m.order[m.first[m.node[r]]]] != group[r];
    is_count(wrong, 0, "each is where it was put");
    is_count(m.nodes, nodes, "on %zu nodes", nodes);
    assay_map_free(&m);
    free(group);
}

static void merge(void)
{
    static const char *const key[] = {"a", "b", "a", "c", "b", "d"};
    size_t group[] = {10, 11, 12, 12, 14, 15};

    ok(assay_map_merge(6, group, key) == 0, "groups and hosts joined");
    ok(group[0] == group[2] && group[2] == group[3], "a: 0, 2, and 3 by group");
    ok(group[1] == group[4], "b: 1 and 4");
    ok(group[5] != group[0] && group[5] != group[1] && group[0] != group[1],
       "others stay apart");
}

/* An environment made up of pairs. */
static const char *const *environment;

static char *look_up(const char *name)
{
    for (size_t i = 0; environment[i]; i += 2)
        if (strcmp(environment[i], name) == 0)
            return (char *)(uintptr_t)environment[i + 1];
    return NULL;
}

/* Is MPI's size accepted in this environment? */
static bool accepted(long size, const char *const *words)
{
    struct assay_launcher l;

    environment = words;
    l = assay_launcher(look_up);
    return assay_launcher_denies(&l, size) == NULL;
}

/* Is the launcher there that numbered this process? */
static bool linked(const char *const *words)
{
    environment = words;
    return assay_launcher(look_up).linked;
}

#define ENV(...)                                                               \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__, NULL, NULL                                                \
    }
#define STEP                                                                   \
    "SLURM_STEP_ID", "0", "SLURM_PROCID", "1", "SLURM_NTASKS", "4",            \
        "SLURM_STEP_NUM_TASKS", "4"

static void launchers(void)
{
    struct assay_launcher l;

    ok(accepted(1, ENV("HOME", "/")), "no launcher: alone is right");
    ok(accepted(4, ENV("HOME", "/")), "and so is any job");
    ok(!accepted(1, ENV("PMI_SIZE", "4")), "one of four that is alone");
    ok(accepted(4, ENV("PMI_SIZE", "4")), "one of four");
    ok(!accepted(2, ENV("PMI_SIZE", "4")), "half of the job");
    ok(!accepted(1, ENV("OMPI_COMM_WORLD_SIZE", "2")), "Open MPI's mpirun");
    ok(!accepted(1, ENV("FLUX_JOB_SIZE", "2")), "flux");
    ok(!accepted(1, ENV(STEP)), "srun");
    ok(accepted(4, ENV(STEP)), "srun, of that size");
    ok(accepted(1, ENV("SLURM_NTASKS", "4", "SLURM_JOB_ID", "7")),
       "an allocation is no launch");
    ok(accepted(8, ENV("SLURM_NTASKS", "4", "PMI_SIZE", "8")),
       "mpirun -n of another size than the allocation's");
    ok(accepted(8, ENV(STEP, "OMPI_COMM_WORLD_SIZE", "8")),
       "a daemon that srun started hands on its step");
    ok(!accepted(1, ENV("PMI_SIZE", "4", "SLURM_STEP_ID", "4294967290",
                        "SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS", "1")),
       "an interactive step says 1, hydra 4");
    ok(accepted(1, ENV("SLURM_STEP_ID", "4294967291", "SLURM_PROCID", "0",
                       "SLURM_NTASKS", "4")),
       "the batch script is no step of srun");
    ok(!accepted(1, ENV("OMPI_COMM_WORLD_SIZE", "1", "PMI_SIZE", "4")),
       "alone, and one of two launchers says four");
    ok(accepted(8, ENV(STEP, "SLURM_HET_SIZE", "2")),
       "a job of two components is more than one of them");
    ok(!accepted(1, ENV(STEP, "SLURM_HET_SIZE", "2")), "but not less");
    ok(accepted(1, ENV("PMI_SIZE", "junk")), "no number is no word");
    environment = ENV(STEP, "PMI_RANK", "3");
    l = assay_launcher(look_up);
    is_count((uint64_t)l.rank, 3, "the rank is the innermost launcher's");
    is_count((uint64_t)l.allocated, 4, "the allocation is known");
    environment = ENV("SLURM_PROCID", "0");
    l = assay_launcher(look_up);
    ok(l.rank == -1, "out of a step there is no rank");
}

/* Left-over variables name what is gone. */
static void links(void)
{
    char pid[16], fd[2][16];
    int ends[2] = {-1, -1};

    ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a launcher's socket");
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    snprintf(fd[0], sizeof(fd[0]), "%d", ends[0]);
    snprintf(fd[1], sizeof(fd[1]), "%d", ends[1]);
    ok(!linked(ENV("PMI_RANK", "2", "PMI_SIZE", "4")),
       "no launcher to be seen");
    ok(linked(ENV("PMI_RANK", "2", "PMI_FD", fd[0])), "its socket");
    ok(!linked(ENV("PMI_FD", fd[0])), "but no number");
    close(ends[1]);
    ok(!linked(ENV("PMI_RANK", "2", "PMI_FD", fd[1])),
       "a socket that is closed");
    ok(!linked(ENV("PMI_RANK", "2", "PMI_FD", "junk")), "and what is none");
    ok(linked(ENV("PMI_RANK", "2", "PMI_PORT", "n1:4711")), "its port");
    ok(linked(ENV("PMIX_RANK", "2", "PMIX_SERVER_TMPDIR", "/")), "its folder");
    ok(!linked(ENV("PMIX_RANK", "2", "PMIX_SERVER_TMPDIR", "/no such folder")),
       "a folder that is gone");
    ok(linked(ENV(STEP, "SLURM_TASK_PID", pid)), "srun's task");
    ok(!linked(ENV(STEP, "SLURM_TASK_PID", "2147483647")), "one that is gone");
    close(ends[0]);
}

int main(void)
{
    block();
    other_placements();
    large(192, 8);
    large(46341, 1001);
    merge();
    launchers();
    links();
    return done_testing();
}
