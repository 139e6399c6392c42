/* transport_ofi.c - blocks moved by libfabric, which MPI made known to each
 * other.
 *
 * Each task has an endpoint with a completion queue, and reaches the endpoint of
 * the same number of the other ranks. Operations are complete when the data is
 * at the target (FI_DELIVERY_COMPLETE); a flush waits for those that count. */
#include "config.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commbw/transport.h"
#include "lib/run.h"

enum {
    NAME = 512,      /* bytes of an endpoint's address, at most */
    UNDER_WAY = 256, /* operations of a task, at most */
    REAP = 16,       /* completions that are read at once */
    WINDOW_KEY = 1,  /* where the provider leaves keys to us */
    BUFFER_KEY = 2,
};

struct lane {
    struct fid_ep *ep;
    struct fid_cq *cq;
    uint64_t under_way; /* operations */
};

struct ofi {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_mr *window, *buffer;
    struct lane *lane;    /* [threads] */
    fi_addr_t *address;   /* [ranks * threads] */
    uint64_t *base, *key; /* [ranks] of windows */
};

static void must(const struct transport *t, long code, const char *what)
{
    if (code < 0)
        assay_die(t->job->run, ASSAY_BROKEN, "libfabric, %s: %s", what,
                  fi_strerror((int)-code));
}

static struct fi_info *hints_of(const struct transport *t)
{
    struct fi_info *hints = fi_allocinfo();

    if (!hints)
        must(t, -FI_ENOMEM, "hints");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps =
        FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading =
        t->threads > 1 ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    return hints;
}

/* The first provider that will do; not the one for shared memory where ranks
 * are on several nodes. The same on all ranks. */
static void find_provider(struct transport *t, struct ofi *o)
{
    struct fi_info *hints = hints_of(t), *all = NULL, *info;
    char mine[64], first[64];
    int code = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &all);

    fi_freeinfo(hints);
    must(t, code, "no provider of one-sided access (fi_info -l; FI_PROVIDER)");
    for (info = all; info; info = info->next)
        if (t->job->map.nodes == 1 ||
            strcmp(info->fabric_attr->prov_name, "shm") != 0)
            break;
    if (!info)
        must(t, -FI_ENODATA, "no provider that reaches other nodes");
    o->info = fi_dupinfo(info);
    fi_freeinfo(all);
    snprintf(mine, sizeof(mine), "%s", o->info->fabric_attr->prov_name);
    memcpy(first, mine, sizeof(first));
    MPI_Bcast(first, sizeof(first), MPI_CHAR, 0, t->job->comm);
    if (strcmp(mine, first) != 0)
        assay_die(t->job->run, ASSAY_BROKEN,
                  "libfabric: provider %s here, %s on rank 0: name one "
                  "(FI_PROVIDER)",
                  mine, first);
    snprintf(t->details, sizeof(t->details), "%s %.60s", mine,
             o->info->domain_attr->name);
}

static void open_domain(struct transport *t, struct ofi *o)
{
    struct fi_av_attr av = {.type = FI_AV_UNSPEC,
                            .count = (size_t)t->job->size * t->threads};

    must(t, fi_fabric(o->info->fabric_attr, &o->fabric, NULL), "fabric");
    must(t, fi_domain(o->fabric, o->info, &o->domain, NULL), "domain");
    must(t, fi_av_open(o->domain, &av, &o->av, NULL), "addresses");
}

static void open_lanes(struct transport *t, struct ofi *o)
{
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT,
                            .size = 2 * UNDER_WAY};

    o->lane = transport_array(t, t->threads, sizeof(*o->lane));
    for (size_t i = 0; i < t->threads; i++) {
        struct lane *l = &o->lane[i];

        must(t, fi_endpoint(o->domain, o->info, &l->ep, NULL), "endpoint");
        must(t, fi_cq_open(o->domain, &cq, &l->cq, NULL), "queue");
        must(t, fi_ep_bind(l->ep, &o->av->fid, 0), "bind");
        must(t, fi_ep_bind(l->ep, &l->cq->fid, FI_TRANSMIT | FI_RECV), "bind");
        must(t, fi_enable(l->ep), "enable");
    }
}

/* Every rank gets the addresses of all lanes of all. */
static void share_addresses(struct transport *t, struct ofi *o)
{
    size_t n = (size_t)t->job->size * t->threads;
    char *mine = transport_array(t, t->threads, NAME),
         *all = transport_array(t, n, NAME);

    o->address = transport_array(t, n, sizeof(*o->address));
    for (size_t i = 0; i < t->threads; i++) {
        size_t length = NAME;

        must(t, fi_getname(&o->lane[i].ep->fid, mine + i * NAME, &length),
             "address");
    }
    MPI_Allgather(mine, (int)(t->threads * NAME), MPI_CHAR, all,
                  (int)(t->threads * NAME), MPI_CHAR, t->job->comm);
    for (size_t i = 0; i < n; i++)
        if (fi_av_insert(o->av, all + i * NAME, 1, &o->address[i], 0, NULL) !=
            1)
            must(t, -FI_EADDRNOTAVAIL, "address of another rank");
    free(mine);
    free(all);
}

static struct fid_mr *map(struct transport *t, struct ofi *o, void *p,
                          uint64_t bytes, uint64_t access, uint64_t key)
{
    struct fid_mr *mr = NULL;

    if (bytes > 0)
        must(t, fi_mr_reg(o->domain, p, bytes, access, 0, key, 0, &mr, NULL),
             "memory");
    return mr;
}

static void share_windows(struct transport *t, struct ofi *o)
{
    bool virtual = o->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t base = virtual ? (uint64_t)(uintptr_t)t->window : 0, key;

    o->window = map(t, o, t->window, t->window_bytes,
                    FI_REMOTE_READ | FI_REMOTE_WRITE, WINDOW_KEY);
    o->buffer =
        map(t, o, t->buffer, t->buffer_bytes, FI_READ | FI_WRITE, BUFFER_KEY);
    key = o->window ? fi_mr_key(o->window) : 0;
    o->base = transport_array(t, (size_t)t->job->size, sizeof(*o->base));
    o->key = transport_array(t, (size_t)t->job->size, sizeof(*o->key));
    MPI_Allgather(&base, 1, MPI_UINT64_T, o->base, 1, MPI_UINT64_T,
                  t->job->comm);
    MPI_Allgather(&key, 1, MPI_UINT64_T, o->key, 1, MPI_UINT64_T, t->job->comm);
}

static void ofi_open(struct transport *t)
{
    struct ofi *o = transport_array(t, 1, sizeof(*o));

    t->own = o;
    t->window = transport_map(t, t->window_bytes);
    t->buffer = transport_map(t, t->buffer_bytes);
    find_provider(t, o);
    open_domain(t, o);
    open_lanes(t, o);
    share_addresses(t, o);
    share_windows(t, o);
}

static void lane_failed(struct transport *t, struct lane *l)
{
    struct fi_cq_err_entry error = {.err = FI_EOTHER};

    fi_cq_readerr(l->cq, &error, 0);
    must(t, -error.err, "an operation");
}

/* Read what has completed, which is also what lets others reach this rank. */
static void ofi_progress(struct transport *t, size_t thread)
{
    struct ofi *o = t->own;
    struct lane *l = &o->lane[thread];
    struct fi_cq_entry entry[REAP];
    ssize_t n = fi_cq_read(l->cq, entry, REAP);

    if (n > 0)
        l->under_way -= (uint64_t)n;
    else if (n == -FI_EAVAIL)
        lane_failed(t, l);
    else if (n != -FI_EAGAIN)
        must(t, n, "queue");
}

/* Begin one operation of n bytes, when there is room for it. */
static void begin(struct transport *t, size_t thread, bool put, int target,
                  uint64_t at, unsigned char *p, uint64_t n)
{
    struct ofi *o = t->own;
    struct lane *l = &o->lane[thread];
    fi_addr_t there = o->address[(size_t)target * t->threads + thread];
    uint64_t address = o->base[target] + at, key = o->key[target];
    void *memory = fi_mr_desc(o->buffer);
    ssize_t code;

    while (l->under_way >= UNDER_WAY)
        ofi_progress(t, thread);
    do {
        code = put ? fi_write(l->ep, p, n, memory, there, address, key, NULL)
                   : fi_read(l->ep, p, n, memory, there, address, key, NULL);
        if (code == -FI_EAGAIN)
            ofi_progress(t, thread);
    } while (code == -FI_EAGAIN);
    must(t, code, put ? "put" : "get");
    l->under_way++;
}

/* A block, in pieces of what the provider takes at once. */
static void move(struct transport *t, size_t thread, bool put, int target,
                 uint64_t at, uint64_t n)
{
    const struct ofi *o = t->own;
    uint64_t most = o->info->ep_attr->max_msg_size;

    most = most < WINDOW_PIECE ? most : WINDOW_PIECE;
    for (uint64_t k; n > 0; n -= k, at += k) {
        k = n < most ? n : most;
        begin(t, thread, put, target, at, t->buffer + at, k);
    }
}

static void ofi_put(struct transport *t, size_t thread, int target,
                    const struct window_row *row)
{
    transport_check(t, target, row);
    for (uint64_t i = 0; i < row->count; i++)
        move(t, thread, true, target, row->at + i * row->step, row->n);
}

static void ofi_get(struct transport *t, size_t thread, int target,
                    const struct window_row *row)
{
    transport_check(t, target, row);
    for (uint64_t i = 0; i < row->count; i++)
        move(t, thread, false, target, row->at + i * row->step, row->n);
}

static void ofi_flush(struct transport *t, size_t thread, int target)
{
    struct ofi *o = t->own;

    (void)target;
    while (o->lane[thread].under_way > 0)
        ofi_progress(t, thread);
}

static void ofi_close(struct transport *t)
{
    struct ofi *o = t->own;

    transport_sync(t);
    if (o->window)
        fi_close(&o->window->fid);
    if (o->buffer)
        fi_close(&o->buffer->fid);
    for (size_t i = 0; i < t->threads; i++) {
        fi_close(&o->lane[i].ep->fid);
        fi_close(&o->lane[i].cq->fid);
    }
    fi_close(&o->av->fid);
    fi_close(&o->domain->fid);
    fi_close(&o->fabric->fid);
    fi_freeinfo(o->info);
    transport_unmap(t->window, t->window_bytes);
    transport_unmap(t->buffer, t->buffer_bytes);
    free(o->lane);
    free(o->address);
    free(o->base);
    free(o->key);
    free(o);
}

const struct transport_kind transport_ofi = {
    .name = "ofi",
    .open = ofi_open,
    .close = ofi_close,
    .sync = transport_sync,
    .put = ofi_put,
    .get = ofi_get,
    .flush = ofi_flush,
    .progress = ofi_progress,
};
