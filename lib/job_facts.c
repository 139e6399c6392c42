/* job_facts.c - which library this is, what carries its messages, and who
 * shares a node with whom. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/job_facts.h"
#include "lib/provenance.h"
#include "lib/record.h"

enum {
    CPU_BYTES = 2048, /* of a mask of CPUs */
    KEY = 320,        /* bytes of a host name and the id of its kernel */
    NAME_MOST = 128   /* bytes of a control variable's name that matter here */
};

/* The text behind `label` in what the library says of itself, up to the end of
 * its line, blanks around it left out. False where there is none. */
static bool line_after(const char *version, const char *label, char *buf,
                       size_t size)
{
    const char *p = strstr(version, label);

    if (!p)
        return false;
    p += strlen(label);
    p += strspn(p, " \t");
    snprintf(buf, size, "%.*s", (int)strcspn(p, ",\n"), p);
    return *buf != '\0';
}

void assay_job_library(const char *version, char *buf, size_t size)
{
    char number[64];

    if (line_after(version, "Open MPI v", number, sizeof(number)))
        snprintf(buf, size, "Open MPI %s", number);
    else if (line_after(version, "MVAPICH2 Version", number, sizeof(number)) ||
             line_after(version, "MVAPICH Version", number, sizeof(number)))
        snprintf(buf, size, "MVAPICH %s", number + strspn(number, ": \t"));
    else if (line_after(version, "MPICH Version:", number, sizeof(number)))
        snprintf(buf, size, "MPICH %s", number);
    else
        snprintf(buf, size, "%.*s", (int)strcspn(version, "\n"), version);
    if (!*buf)
        snprintf(buf, size, "unknown");
}

__attribute__((format(printf, 3, 4))) static void
append(char *buf, size_t size, const char *format, ...)
{
    size_t length = strlen(buf);
    va_list ap;

    va_start(ap, format);
    vsnprintf(buf + length, size - length, format, ap);
    va_end(ap);
}

/* Is the word in a list "self+tcp"? */
static bool listed(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (; *list; list += strcspn(list, "+"), list += *list == '+')
        if (strncmp(list, word, length) == 0 &&
            (list[length] == '+' || list[length] == '\0'))
            return true;
    return false;
}

/* Components of one of Open MPI's frameworks that are open, "self+tcp", from
 * the control variables "btl_tcp_..." that there are: those of a component that
 * was not chosen are gone by now. */
static void components(const char *framework, char *buf, size_t size)
{
    size_t length = strlen(framework);
    int n = 0;

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[NAME_MOST], component[NAME_MOST];
        int room = sizeof(name), none = 0, verbosity, binding, scope;
        MPI_Datatype type;
        MPI_T_enum words;

        if (MPI_T_cvar_get_info(i, name, &room, &verbosity, &type, &words, NULL,
                                &none, &binding, &scope) != MPI_SUCCESS ||
            strncmp(name, framework, length) != 0 || name[length] != '_')
            continue;
        snprintf(component, sizeof(component), "%.*s",
                 (int)strcspn(name + length + 1, "_"), name + length + 1);
        if (strcmp(component, "base") != 0 && !listed(buf, component))
            append(buf, size, "%s%s", *buf ? "+" : "", component);
    }
}

/* What moves messages within Open MPI: a pml, and the layer that it uses. */
static void openmpi_transport(char *buf, size_t size)
{
    char pml[64] = "", below[128] = "";
    int level;

    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
        return;
    components("pml", pml, sizeof(pml));
    if (*pml)
        snprintf(buf, size, "pml=%s", pml);
    if (strcmp(pml, "ob1") == 0) {
        components("btl", below, sizeof(below));
        append(buf, size, " btl=%s", below);
    } else if (strcmp(pml, "cm") == 0) {
        components("mtl", below, sizeof(below));
        append(buf, size, " mtl=%s", below);
    }
    MPI_T_finalize();
}

static void transport(const char *version, char *buf, size_t size)
{
    char device[64];

    buf[0] = '\0';
    if (strstr(version, "Open MPI v"))
        openmpi_transport(buf, size);
    else if (line_after(version, "MPICH Device:", device, sizeof(device)) ||
             line_after(version, "MVAPICH2 Device:", device, sizeof(device)))
        snprintf(buf, size, "device=%s", device);
    if (!*buf)
        snprintf(buf, size, "unknown");
}

static void *room(const struct assay_job *job, size_t n, size_t size)
{
    return assay_room(job->run, n, size, "the map of ranks");
}

/* Host and kernel: what two processes of one machine have in common, although
 * MPI may have been told not to use shared memory between them. */
static void machine_key(const char *host, char key[KEY])
{
    char kernel[ASSAY_KERNEL];

    assay_job_kernel(kernel);
    memset(key, 0, KEY);
    snprintf(key, KEY, "%.255s %s", host, kernel);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Different kernels behind the keys of all ranks; 0 where one is not known. */
static size_t count_kernels(const struct assay_job *job, const char *keys)
{
    size_t n = (size_t)job->size, kernels = 0;
    const char **kernel = room(job, n, sizeof(*kernel));
    bool known = true;

    for (size_t r = 0; r < n; r++) {
        kernel[r] = strchr(keys + r * KEY, ' ') + 1;
        known &= *kernel[r] != '\0';
    }
    qsort(kernel, n, sizeof(*kernel), by_text);
    for (size_t r = 0; r < n; r++)
        kernels += r == 0 || strcmp(kernel[r], kernel[r - 1]) != 0;
    free(kernel);
    return known ? kernels : 0;
}

/* From the key of every rank, and the lowest rank of those that it shares
 * memory with, to the map. */
static void map_from(struct assay_job *job, const char *keys,
                     const unsigned long *shared)
{
    size_t n = (size_t)job->size;
    size_t *group = room(job, n, sizeof(*group));
    const char **key = room(job, n, sizeof(*key));
    char *hosts = room(job, n, KEY);
    const char **host = room(job, n, sizeof(*host));

    memcpy(hosts, keys, n * KEY);
    for (size_t r = 0; r < n; r++) {
        char *name = hosts + r * KEY;

        group[r] = shared[r];
        key[r] = keys + r * KEY;
        name[strcspn(name, " ")] = '\0';
        host[r] = name;
    }
    if (assay_map_merge(n, group, key) < 0 ||
        assay_map_build(&job->map, n, group, host) < 0)
        assay_die(job->run, ASSAY_BROKEN, "map of %d ranks: %s", job->size,
                  strerror(errno));
    free(group);
    free(key);
    free(hosts);
    free(host);
}

static void find_map(struct assay_job *job)
{
    size_t ranks = (size_t)job->size;
    char key[KEY], *keys = room(job, ranks, KEY);
    unsigned long mine = (unsigned long)job->rank;
    unsigned long *shared = room(job, ranks, sizeof(*shared));
    MPI_Comm sharers;

    MPI_Comm_split_type(job->comm, MPI_COMM_TYPE_SHARED, job->rank,
                        MPI_INFO_NULL, &sharers);
    MPI_Bcast(&mine, 1, MPI_UNSIGNED_LONG, 0, sharers);
    MPI_Comm_free(&sharers);
    machine_key(job->host, key);
    MPI_Allgather(&mine, 1, MPI_UNSIGNED_LONG, shared, 1, MPI_UNSIGNED_LONG,
                  job->comm);
    MPI_Allgather(key, KEY, MPI_CHAR, keys, KEY, MPI_CHAR, job->comm);
    map_from(job, keys, shared);
    MPI_Comm_split(job->comm, (int)job->map.node[job->rank], job->rank,
                   &job->node);
    job->kernels = count_kernels(job, keys);
    free(keys);
    free(shared);
}

/* Launchers bind ranks, each to CPUs of its own: what matters is how many a
 * node's ranks have together. */
static void count_cpus(struct assay_job *job)
{
    const struct assay_topology *t = assay_machine(job->run);
    unsigned char mine[CPU_BYTES] = {0}, all[CPU_BYTES];

    for (size_t i = 0; i < t->ncpus; i++)
        if (t->cpus[i].cpu < CPU_BYTES * 8u)
            mine[t->cpus[i].cpu / 8] |=
                (unsigned char)(1 << t->cpus[i].cpu % 8);
    MPI_Allreduce(mine, all, CPU_BYTES, MPI_BYTE, MPI_BOR, job->node);
    for (size_t i = 0; i < CPU_BYTES; i++)
        for (unsigned bits = all[i]; bits; bits &= bits - 1)
            job->cpus++;
}

void assay_job_facts(struct assay_job *job)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(version, &length);
    transport(version, job->transport, sizeof(job->transport));
    find_map(job);
    count_cpus(job);
}

/* Variables that change how the library moves messages; those that a launcher
 * sets for its own use are left out. */
static bool is_telling(const char *variable)
{
    static const char *const ours[] = {
        "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "UCX_",  "FI_",   "MPIR_CVAR_",
        "MPICH_",    "I_MPI_",    "MV2_",      "PSM2_", "PSM3_", "HFI_"};
    static const char *const its[] = {
        "OMPI_MCA_orte_", "OMPI_MCA_ess_", "OMPI_MCA_initial_wdir",
        "PMIX_MCA_mca_base_component_show_load_errors"};
    bool telling = false;

    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        telling |= strncmp(variable, ours[i], strlen(ours[i])) == 0;
    for (size_t i = 0; i < sizeof(its) / sizeof(*its); i++)
        telling &= strncmp(variable, its[i], strlen(its[i])) != 0;
    return telling;
}

static void put_variables(struct assay_fields *env)
{
    enum { SIZE = 16384 };
    char *value = calloc(1, SIZE);

    for (char **p = environ; value && *p; p++)
        if (is_telling(*p))
            append(value, SIZE, "%s%.1024s", *value ? " " : "", *p);
    if (!value)
        assay_fields_text(env, "mpi_variables", "unknown (no memory)");
    else
        assay_fields_text(env, "mpi_variables", *value ? value : "none");
    free(value);
}

static void put_hosts(struct assay_fields *env, const struct assay_map *map)
{
    size_t size = 1;
    char *list, *end;

    for (size_t n = 0; n < map->nodes; n++)
        size += strlen(map->name[n]) + 1;
    list = end = malloc(size);
    if (!list) {
        assay_fields_text(env, "hosts", "unknown (no memory)");
        return;
    }
    *list = '\0';
    for (size_t n = 0; n < map->nodes; n++)
        end += sprintf(end, "%s%s", n ? "," : "", map->name[n]);
    assay_fields_text(env, "hosts", list);
    free(list);
}

void assay_job_env(struct assay_job *job)
{
    struct assay_fields env = {0};
    char standard[32];
    int version, subversion;

    MPI_Get_version(&version, &subversion);
    snprintf(standard, sizeof(standard), "%d.%d", version, subversion);
    assay_fields_text(&env, "mpi", job->library);
    assay_fields_text(&env, "mpi_standard", standard);
    assay_fields_text(&env, "transport", job->transport);
    assay_job_fields(job, &env);
    put_hosts(&env, &job->map);
    put_variables(&env);
    assay_line(job->run, "env", &env);
}
