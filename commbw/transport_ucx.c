/* transport_ucx.c - blocks moved by UCX, which MPI made known to each other.
 *
 * Each task has a worker, and each of those an endpoint to the worker of the
 * same number of the ranks that it reaches, made when it is first used: in the
 * warm-up. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "commbw/transport.h"
#include "lib/run.h"

/* A way to one rank. */
struct way {
    ucp_ep_h ep; /* NULL: not yet */
    ucp_rkey_h rkey;
};

struct lane {
    ucp_worker_h worker;
    struct way *way; /* [ranks] */
};

struct ucx {
    ucp_context_h context;
    ucp_mem_h window, buffer;
    struct lane *lane; /* [threads] */
    uint64_t *base;    /* [ranks] address of its window */
    char *address;     /* [ranks * threads * address_size] of workers */
    size_t address_size;
    char *key; /* [ranks * key_size] of windows */
    size_t key_size;
};

static void must(const struct transport *t, ucs_status_t status,
                 const char *what)
{
    if (status != UCS_OK)
        assay_die(t->job->run, ASSAY_BROKEN, "UCX, %s: %s", what,
                  ucs_status_string(status));
}

static void open_context(struct transport *t, struct ucx *u)
{
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_RMA,
        .mt_workers_shared = t->threads > 1,
        .estimated_num_eps = (size_t)t->job->size,
    };
    ucp_config_t *config;

    must(t, ucp_config_read(NULL, NULL, &config), "its variables");
    must(t, ucp_init(&params, config, &u->context), "no context");
    ucp_config_release(config);
    snprintf(t->details, sizeof(t->details), "UCX %s UCX_TLS=%.60s",
             ucp_get_version_string(),
             getenv("UCX_TLS") ? getenv("UCX_TLS") : "all");
}

static void open_workers(struct transport *t, struct ucx *u)
{
    ucs_thread_mode_t wanted =
        t->threads > 1 ? UCS_THREAD_MODE_SERIALIZED : UCS_THREAD_MODE_SINGLE;
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = wanted,
    };
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};

    u->lane = transport_array(t, t->threads, sizeof(*u->lane));
    for (size_t i = 0; i < t->threads; i++) {
        must(t, ucp_worker_create(u->context, &params, &u->lane[i].worker),
             "no worker");
        must(t, ucp_worker_query(u->lane[i].worker, &attr), "its threads");
        if (attr.thread_mode < wanted)
            assay_die(t->job->run, ASSAY_BROKEN,
                      "UCX, as it is built, has not the thread support that "
                      "is needed: --tasks=1, or --tasks-as=ranks");
        u->lane[i].way =
            transport_array(t, (size_t)t->job->size, sizeof(*u->lane[i].way));
    }
}

static ucp_mem_h map(struct transport *t, struct ucx *u, void *p,
                     uint64_t bytes)
{
    ucp_mem_map_params_t params = {
        .field_mask =
            UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = p,
        .length = bytes,
    };
    ucp_mem_h memory = NULL;

    if (bytes > 0)
        must(t, ucp_mem_map(u->context, &params, &memory), "memory");
    return memory;
}

/* All get what each has: texts of different length, at the longest's size. */
static char *share(struct transport *t, const void *mine, size_t length,
                   size_t *size)
{
    size_t ranks = (size_t)t->job->size;
    uint64_t longest = length;
    char *all, *padded;

    MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_UINT64_T, MPI_MAX,
                  t->job->comm);
    *size = longest;
    all = transport_array(t, ranks, longest);
    padded = transport_array(t, 1, longest);
    if (length > 0)
        memcpy(padded, mine, length);
    MPI_Allgather(padded, (int)longest, MPI_CHAR, all, (int)longest, MPI_CHAR,
                  t->job->comm);
    free(padded);
    return all;
}

/* Addresses of this rank's workers, one behind the other. */
static void share_addresses(struct transport *t, struct ucx *u)
{
    uint64_t longest = 0;
    char *mine;

    for (int pass = 0; pass < 2; pass++) {
        mine = pass ? transport_array(t, t->threads, longest) : NULL;
        for (size_t i = 0; i < t->threads; i++) {
            ucp_address_t *address;
            size_t length;

            must(t,
                 ucp_worker_get_address(u->lane[i].worker, &address, &length),
                 "no address");
            if (mine && length <= longest)
                memcpy(mine + i * longest, address, length);
            longest = !mine && length > longest ? length : longest;
            ucp_worker_release_address(u->lane[i].worker, address);
        }
        if (!mine)
            MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_UINT64_T, MPI_MAX,
                          t->job->comm);
    }
    u->address_size = longest;
    u->address = share(t, mine, t->threads * longest, &(size_t){0});
    free(mine);
}

static void share_windows(struct transport *t, struct ucx *u)
{
    uint64_t base = (uint64_t)(uintptr_t)t->window;
    void *key = NULL;
    size_t length = 0;

    if (u->window)
        must(t, ucp_rkey_pack(u->context, u->window, &key, &length),
             "a key of memory");
    u->key = share(t, key, length, &u->key_size);
    if (key)
        ucp_rkey_buffer_release(key);
    u->base = transport_array(t, (size_t)t->job->size, sizeof(*u->base));
    MPI_Allgather(&base, 1, MPI_UINT64_T, u->base, 1, MPI_UINT64_T,
                  t->job->comm);
}

static void ucx_open(struct transport *t)
{
    struct ucx *u = transport_array(t, 1, sizeof(*u));

    t->own = u;
    t->window = transport_map(t, t->window_bytes);
    t->buffer = transport_map(t, t->buffer_bytes);
    open_context(t, u);
    open_workers(t, u);
    u->window = map(t, u, t->window, t->window_bytes);
    u->buffer = map(t, u, t->buffer, t->buffer_bytes);
    share_addresses(t, u);
    share_windows(t, u);
}

static struct way *way_to(struct transport *t, size_t thread, int target)
{
    struct ucx *u = t->own;
    struct way *way = &u->lane[thread].way[target];
    size_t index = (size_t)target * t->threads + thread;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};

    if (way->ep)
        return way;
    params.address =
        (const ucp_address_t *)(u->address + index * u->address_size);
    must(t, ucp_ep_create(u->lane[thread].worker, &params, &way->ep),
         "no endpoint");
    must(t,
         ucp_ep_rkey_unpack(way->ep, u->key + (size_t)target * u->key_size,
                            &way->rkey),
         "a key of memory");
    return way;
}

/* Begin the moves of a row, which complete with the flush behind them. */
static inline void move(struct transport *t, size_t thread, bool put,
                        int target, const struct window_row *row)
{
    struct ucx *u = t->own;
    const struct way *way = way_to(t, thread, target);
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH,
                                       .memh = u->buffer};
    unsigned char *p = t->buffer + row->at;
    uint64_t there = u->base[target] + row->at;

    transport_check(t, target, row);
    for (uint64_t i = 0; i < row->count; i++) {
        ucs_status_ptr_t request =
            put ? ucp_put_nbx(way->ep, p, row->n, there, way->rkey, &param)
                : ucp_get_nbx(way->ep, p, row->n, there, way->rkey, &param);

        if (UCS_PTR_IS_ERR(request))
            must(t, UCS_PTR_STATUS(request), put ? "put" : "get");
        else if (request)
            ucp_request_free(request);
        p += row->step;
        there += row->step;
    }
}

static void ucx_put(struct transport *t, size_t thread, int target,
                    const struct window_row *row)
{
    move(t, thread, true, target, row);
}

static void ucx_get(struct transport *t, size_t thread, int target,
                    const struct window_row *row)
{
    move(t, thread, false, target, row);
}

static void ucx_progress(struct transport *t, size_t thread)
{
    struct ucx *u = t->own;

    ucp_worker_progress(u->lane[thread].worker);
}

/* Wait for a request, letting others reach this worker. */
static void wait_for(struct transport *t, size_t thread,
                     ucs_status_ptr_t request, const char *what)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
            ucx_progress(t, thread);
        ucp_request_free(request);
    }
    must(t, status, what);
}

static void ucx_flush(struct transport *t, size_t thread, int target)
{
    struct ucx *u = t->own;
    ucp_request_param_t param = {.op_attr_mask = 0};
    struct way *way = &u->lane[thread].way[target];

    if (way->ep)
        wait_for(t, thread, ucp_ep_flush_nbx(way->ep, &param), "flush");
}

/* All ranks do so at once: an endpoint is closed by both its ends. */
static void close_lane(struct transport *t, size_t thread)
{
    struct ucx *u = t->own;
    ucp_request_param_t param = {.op_attr_mask = 0};

    for (int r = 0; r < t->job->size; r++) {
        struct way *way = &u->lane[thread].way[r];

        if (!way->ep)
            continue;
        ucp_rkey_destroy(way->rkey);
        wait_for(t, thread, ucp_ep_close_nbx(way->ep, &param), "close");
    }
}

static void ucx_close(struct transport *t)
{
    struct ucx *u = t->own;

    transport_sync(t);
    for (size_t i = 0; i < t->threads; i++)
        close_lane(t, i);
    transport_sync(t);
    if (u->window)
        ucp_mem_unmap(u->context, u->window);
    if (u->buffer)
        ucp_mem_unmap(u->context, u->buffer);
    for (size_t i = 0; i < t->threads; i++) {
        ucp_worker_destroy(u->lane[i].worker);
        free(u->lane[i].way);
    }
    ucp_cleanup(u->context);
    transport_unmap(t->window, t->window_bytes);
    transport_unmap(t->buffer, t->buffer_bytes);
    free(u->lane);
    free(u->base);
    free(u->address);
    free(u->key);
    free(u);
}

const struct transport_kind transport_ucx = {
    .name = "ucx",
    .open = ucx_open,
    .close = ucx_close,
    .sync = transport_sync,
    .put = ucx_put,
    .get = ucx_get,
    .flush = ucx_flush,
    .progress = ucx_progress,
};
