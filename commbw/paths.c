/* paths.c - move some bytes, and see where they went. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/paths.h"
#include "commbw/window.h"
#include "lib/assay.h"

enum {
    PART = 10,       /* an interface that carries 1/PART of them carries */
    ROUNDS = 64,     /* ranks of a node that are looked at, at most */
    PACKAGES = 4096, /* numbers of sockets, at most */
};

/* What one node saw in one round. */
struct seen {
    int carriers;                 /* or -1: this node took no part */
    uint64_t used[COUNTERS / 64]; /* a bit each, by place in `counters` */
};

struct probe {
    struct assay_job *job;
    paths_move_f *move;
    void *arg;
    struct window window; /* where it is ours to move */
    unsigned char *buffer;
    struct counters names; /* as this node had them first */
};

/* The move of who brings none. */
static void move_window(void *arg, int peer, uint64_t bytes)
{
    struct probe *p = arg;

    if (peer >= 0) {
        window_put(&p->window, peer, 0, p->buffer, bytes);
        window_flush(&p->window, peer);
    }
    window_fence(&p->window);
}

/* One rank of a node reads its counters. */
static bool reads(const struct assay_job *job)
{
    return job->map.local[job->rank] == 0;
}

/* Rank `local` of the node, or -1 where it has not so many. */
static int rank_on(const struct assay_job *job, size_t node, size_t local)
{
    const struct assay_map *map = &job->map;

    return local < map->size[node] ? (int)map->order[map->first[node] + local]
                                   : -1;
}

/* Which interfaces of this node carry what one of its ranks puts to peer. */
static void look(struct probe *p, int peer, bool node_takes_part,
                 struct seen *seen)
{
    static const struct seen nothing;
    struct counters before, after;
    size_t carrier[COUNTERS], n;

    *seen = nothing;
    seen->carriers = -1;
    counters_read(&before, "");
    MPI_Barrier(p->job->comm);
    p->move(p->arg, peer, PATHS_BYTES);
    counters_read(&after, "");
    if (!node_takes_part)
        return;
    counters_subtract(&after, &before);
    n = counters_carriers(&after, PATHS_BYTES / PART, carrier);
    seen->carriers = (int)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p->names.n; k++)
            if (strcmp(p->names.counter[k].name,
                       after.counter[carrier[i]].name) == 0)
                seen->used[k / 64] |= UINT64_C(1) << k % 64;
}

/* What a node saw in all rounds, put together. */
struct sum {
    int nics;      /* -1: no round */
    int shared;    /* two ranks used the same */
    int inside;    /* interfaces that carried between its ranks; -1: no two */
    char text[80]; /* names of nics, "eth0+eth1" */
};

static void add_round(struct seen *all, const struct seen *seen,
                      struct sum *sum)
{
    if (seen->carriers < 0)
        return;
    if (all->carriers < 0)
        all->carriers = 0;
    for (size_t w = 0; w < COUNTERS / 64; w++) {
        sum->shared |= (all->used[w] & seen->used[w]) != 0;
        all->used[w] |= seen->used[w];
    }
}

static void name_nics(const struct probe *p, const struct seen *all,
                      struct sum *sum)
{
    for (size_t k = 0; k < p->names.n; k++) {
        size_t length = strlen(sum->text);

        if (!(all->used[k / 64] >> k % 64 & 1))
            continue;
        sum->nics++;
        snprintf(sum->text + length, sizeof(sum->text) - length, "%s%s",
                 length ? "+" : "", p->names.counter[k].name);
    }
}

/* From each node to the next, by its ranks in turn; then from one rank of each
 * node to another of it. */
static void look_around(struct probe *p, struct sum *sum)
{
    const struct assay_job *job = p->job;
    const struct assay_map *map = &job->map;
    size_t node = map->node[job->rank], next = (node + 1) % map->nodes;
    size_t local = map->local[job->rank], most = 0;
    struct seen all = {.carriers = -1}, seen;

    for (size_t n = 0; n < map->nodes; n++)
        most = map->size[n] > most ? map->size[n] : most;
    most = most < ROUNDS ? most : ROUNDS;
    for (size_t l = 0; map->nodes > 1 && l < most; l++) {
        bool here = rank_on(job, node, l) >= 0;
        int peer = rank_on(job, next, l);

        if (peer < 0)
            peer = rank_on(job, next, 0);
        look(p, local == l ? peer : -1, here, &seen);
        add_round(&all, &seen, sum);
    }
    sum->nics = all.carriers;
    if (all.carriers == 0)
        name_nics(p, &all, sum);
    look(p, local == 0 ? rank_on(job, node, 1) : -1, map->size[node] > 1,
         &seen);
    sum->inside = seen.carriers;
}

/* Sockets of this machine, of which the rank may use some. */
static int machine_packages(void)
{
    char *is = calloc(PACKAGES, 1), path[128];
    int packages = 0;
    unsigned package;

    for (unsigned cpu = 0; is && cpu < PACKAGES; cpu++) {
        FILE *file;

        snprintf(path, sizeof(path),
                 "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
                 cpu);
        file = fopen(path, "r");
        if (!file)
            continue;
        if (fscanf(file, "%u", &package) == 1 && package < PACKAGES &&
            !is[package]) {
            is[package] = 1;
            packages++;
        }
        fclose(file);
    }
    free(is);
    return packages;
}

const char *paths_confined(const struct assay_job *job)
{
    int mine =
            assay_machine(job->run)->npackages == 1 && machine_packages() > 1,
        all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, job->comm);
    return all ? "yes" : "no";
}

/* From the sums of all nodes to what is true of the job. */
static void conclude(struct paths *paths, const struct assay_job *job,
                     const struct sum *sum)
{
    int least = 1 << 30, most = 0, shared = 0, inside = -1;
    size_t length = 0;

    for (size_t n = 0; n < job->map.nodes; n++) {
        int nics = sum[n].nics > 0 ? sum[n].nics : 0;

        least = nics < least ? nics : least;
        most = nics > most ? nics : most;
        shared |= sum[n].shared;
        inside = sum[n].inside > inside ? sum[n].inside : inside;
        if (nics > 0 && length < sizeof(paths->interfaces))
            length += (size_t)snprintf(
                paths->interfaces + length, sizeof(paths->interfaces) - length,
                "%s%s:%s", length ? " " : "", job->map.name[n], sum[n].text);
    }
    if (length == 0)
        strcpy(paths->interfaces, "none");
    if (least == most)
        snprintf(paths->nics, sizeof(paths->nics), "%d", most);
    else
        snprintf(paths->nics, sizeof(paths->nics), "%d-%d", least, most);
    paths->nic_share = most == 0 ? "none" : shared ? "shared" : "own";
    paths->pshm = inside == 0 ? "yes" : "no";
    if (job->map.ppn)
        snprintf(paths->colocales, sizeof(paths->colocales), "%zu",
                 job->map.ppn);
    else
        strcpy(paths->colocales, "uneven");
}

void paths_find(struct paths *paths, struct assay_job *job, paths_move_f *move,
                void *arg)
{
    size_t ranks = (size_t)job->size;
    struct probe p = {.job = job, .move = move, .arg = arg};
    struct sum mine,
        *all = assay_room(job->run, ranks, sizeof(*all), "paths"),
        *nodes = assay_room(job->run, job->map.nodes, sizeof(*nodes), "paths");

    memset(&mine, 0, sizeof(mine));
    memset(paths, 0, sizeof(*paths));
    p.buffer = assay_room(job->run, 1, PATHS_BYTES, "paths");
    assay_job_progress(job, "finding out what carries the bytes");
    counters_read(&p.names, "");
    if (!move) {
        window_open(&p.window, job, job->comm, WINDOW_ALLOCATE, PATHS_BYTES);
        p.move = move_window;
        p.arg = &p;
    }
    look_around(&p, &mine);
    if (!move)
        window_close(&p.window);
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE,
                  job->comm);
    for (size_t n = 0; n < job->map.nodes; n++)
        nodes[n] = all[rank_on(job, n, 0)];
    conclude(paths, job, nodes);
    paths->confined = paths_confined(job);
    free(p.buffer);
    free(all);
    free(nodes);
}

void paths_fields(const struct paths *paths, struct assay_fields *f)
{
    assay_fields_text(f, "nics", paths->nics);
    assay_fields_text(f, "nic_share", paths->nic_share);
    assay_fields_text(f, "pshm", paths->pshm);
    assay_fields_text(f, "colocales", paths->colocales);
    assay_fields_text(f, "confined", paths->confined);
}

void paths_begin(struct assay_job *job, struct counters *before)
{
    MPI_Barrier(job->comm);
    counters_read(before, "");
    MPI_Barrier(job->comm);
}

static void write_traffic(struct assay_job *job, size_t node,
                          const struct counters *moved,
                          const struct assay_fields *what)
{
    for (size_t i = 0; i < moved->n; i++) {
        const struct counter *c = &moved->counter[i];
        struct assay_fields f = {0};

        if (c->received == 0 && c->sent == 0)
            continue;
        assay_fields_text(&f, "host", job->map.name[node]);
        assay_fields_text(&f, "interface", c->name);
        assay_fields_count(&f, "received", c->received);
        assay_fields_count(&f, "sent", c->sent);
        if (what)
            assay_fields_append(&f, what);
        assay_line(job->run, "traffic", &f);
    }
}

void paths_end(struct assay_job *job, const struct counters *before,
               const struct assay_fields *what)
{
    enum { TAG = 31 };
    struct counters *moved = assay_room(job->run, 1, sizeof(*moved), "traffic");

    MPI_Barrier(job->comm);
    counters_read(moved, "");
    counters_subtract(moved, before);
    if (job->rank != 0 && reads(job))
        MPI_Send(moved, sizeof(*moved), MPI_BYTE, 0, TAG, job->comm);
    for (size_t n = 0; job->rank == 0 && n < job->map.nodes; n++) {
        if (n != job->map.node[0])
            MPI_Recv(moved, sizeof(*moved), MPI_BYTE, rank_on(job, n, 0), TAG,
                     job->comm, MPI_STATUS_IGNORE);
        write_traffic(job, n, moved, what);
    }
    free(moved);
}
