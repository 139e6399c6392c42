/* job_lost.c - which rank is gone when the launcher ends the others for it.
 *
 * A launcher that loses a rank ends the rest by SIGTERM, as it does at a time
 * limit. Rank 0, which has the record, can tell one from the other where the
 * lost rank was of its node: the process is not there any more. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/job_lost.h"

enum { REASON = 400, LINE = 480, LINGER = 400000000 /* ns */ };

/* A process, and the name space in which it has that number. */
struct process {
    unsigned long long pid, space;
};

struct peer {
    pid_t pid;
    char message[LINE], end[LINE];
};

/* A mutable global: a signal handler is handed nothing. Set before SIGTERM is
 * minded, and not changed after that. */
static struct {
    struct peer *peer;
    size_t n;
    bool elsewhere; /* other nodes have ranks, too */
} others;

static struct process this_process(void)
{
    struct stat space;

    return (struct process){(unsigned long long)getpid(),
                            stat("/proc/self/ns/pid", &space) == 0
                                ? (unsigned long long)space.st_ino
                                : 0};
}

static void describe(struct peer *peer, const struct assay_job *job, size_t r)
{
    struct assay_fields end = {0};
    char reason[REASON];

    snprintf(reason, sizeof(reason),
             "rank %zu on %.255s is gone, and the launcher ended the others", r,
             job->map.name[job->map.node[r]]);
    assay_fields_text(&end, "status", "failed");
    assay_fields_text(&end, "reason", reason);
    snprintf(peer->message, sizeof(peer->message), "%.60s: %s\n",
             program_invocation_short_name, reason);
    snprintf(peer->end, sizeof(peer->end), "end %s\n",
             end.error ? "status=failed" : end.text);
    assay_fields_free(&end);
}

/* Those that can be seen from here, all of them being alive. */
static void remember(const struct assay_job *job, const struct process *all)
{
    size_t n = (size_t)job->size;

    others.peer = calloc(n, sizeof(*others.peer));
    others.elsewhere = job->map.nodes > 1;
    for (size_t r = 1; r < n && others.peer; r++) {
        struct peer *peer = &others.peer[others.n];

        if (job->map.node[r] != job->map.node[0] || all[0].space == 0 ||
            all[r].space != all[0].space || kill((pid_t)all[r].pid, 0) < 0)
            continue;
        peer->pid = (pid_t)all[r].pid;
        describe(peer, job, r);
        others.n++;
    }
}

static void on_term(int number)
{
    struct timespec a_while = {0, LINGER};

    nanosleep(&a_while, NULL);
    signal(number, SIG_DFL);
    raise(number);
}

static void linger(void)
{
    /* The signal that on_term raises is to be delivered at once. */
    struct sigaction action = {.sa_handler = on_term, .sa_flags = SA_NODEFER};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTERM, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGTERM, &action, NULL);
}

void assay_job_lost_watch(struct assay_job *job)
{
    struct process mine = this_process(), *all = NULL;

    if (job->rank == 0)
        all = assay_room(job->run, (size_t)job->size, sizeof(*all), "ranks");
    else
        linger();
    MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, 0,
               job->comm);
    if (all)
        remember(job, all);
    free(all);
}

const char *assay_job_lost(int number)
{
    if (number != SIGTERM)
        return NULL;
    for (size_t i = 0; i < others.n; i++) {
        const struct peer *peer = &others.peer[i];

        if (kill(peer->pid, 0) == 0)
            continue;
        if (write(STDERR_FILENO, peer->message, strlen(peer->message)) < 0)
            return peer->end;
        return peer->end;
    }
    return others.elsewhere
               ? "end status=failed reason=\"SIGTERM: ended from outside, by a "
                 "time limit or because a rank on another node was lost\"\n"
               : NULL;
}

void assay_job_lost_free(void)
{
    others.n = 0;
    others.elsewhere = false;
    free(others.peer);
    others.peer = NULL;
}
