/* provenance.c - on what, with what and under which load a run was made.
 *
 * What can't be read says why: "unknown (needs root)", "unknown (not
 * exposed)". Text of files and of the environment is hostile: it is read with
 * bounds, and assay_fields_text escapes it. */
#include "config.h"
#include "lib/revision.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "lib/affinity.h"
#include "lib/memory.h"
#include "lib/provenance.h"
#include "lib/provenance_dmi.h"
#include "lib/sha256.h"
#include "lib/topology_backend.h"
#include "lib/units.h"

#define CPU_DIR "/sys/devices/system/cpu"

enum { VALUE = 256, LONG_VALUE = 4096 };

/* --- putting -------------------------------------------------------------- */

/* Why something could not be read, as a value: buf gets it. */
static const char *unknown(int error, char *buf, size_t size)
{
    if (error == EACCES || error == EPERM)
        snprintf(buf, size, "unknown (%s)",
                 geteuid() == 0 ? "not permitted" : "needs root");
    else if (error == ENOMEM)
        snprintf(buf, size, "unknown (no memory)");
    else if (error == ENOENT || error == ENOTDIR || error == 0)
        snprintf(buf, size, "unknown (not exposed)");
    else
        snprintf(buf, size, "unknown (%s)", strerror(error));
    return buf;
}

static void put_unknown(struct assay_fields *env, const char *key, int error)
{
    char buf[VALUE];

    assay_fields_text(env, key, unknown(error, buf, sizeof(buf)));
}

/* A value that may turn out empty, which is then not exposed. */
static void put(struct assay_fields *env, const char *key, const char *value)
{
    if (value && *value)
        assay_fields_text(env, key, value);
    else
        put_unknown(env, key, 0);
}

/* First line of a file. */
static void put_file(struct assay_fields *env, const char *key,
                     const char *root, const char *path)
{
    char line[LONG_VALUE];

    if (assay_file_line(line, sizeof(line), root, "%s", path) < 0)
        put_unknown(env, key, errno);
    else
        put(env, key, line);
}

/* A file that holds 0 or 1, in words; other numbers as they are. */
static void put_switch(struct assay_fields *env, const char *key,
                       const char *root, const char *path)
{
    char line[VALUE];

    if (assay_file_line(line, sizeof(line), root, "%s", path) < 0)
        put_unknown(env, key, errno);
    else
        put(env, key,
            strcmp(line, "0") == 0   ? "off"
            : strcmp(line, "1") == 0 ? "on"
                                     : line);
}

/* The word in brackets: "always [madvise] never" is madvise. */
static void put_chosen(struct assay_fields *env, const char *key,
                       const char *root, const char *path)
{
    char line[VALUE], *open, *close;

    if (assay_file_line(line, sizeof(line), root, "%s", path) < 0) {
        put_unknown(env, key, errno);
        return;
    }
    open = strchr(line, '[');
    close = open ? strchr(open, ']') : NULL;
    if (close) {
        *close = '\0';
        put(env, key, open + 1);
    } else {
        put(env, key, line);
    }
}

/* Append printed text, as far as it fits. */
__attribute__((format(printf, 3, 4))) static void
append(char *buf, size_t size, const char *format, ...)
{
    size_t length = strlen(buf);
    va_list args;

    va_start(args, format);
    vsnprintf(buf + length, size - length, format, args);
    va_end(args);
}

/* --- processor ------------------------------------------------------------ */

/* The value of the first line "key : value" of cpuinfo, or false. */
static bool cpuinfo_value(const char *text, const char *key, char *buf,
                          size_t size)
{
    size_t n = strlen(key);

    for (const char *line = text; line && *line;) {
        if (strncmp(line, key, n) == 0) {
            const char *p = line + n + strspn(line + n, " \t");

            if (*p == ':') {
                p += 1 + strspn(p + 1, " \t");
                snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
                return buf[0] != '\0';
            }
        }
        line = assay_next_line(line);
    }
    return false;
}

/* x86 has "model name", POWER "cpu", MIPS "cpu model"; Arm only numbers. error
 * says why there is no text. */
static void put_model(struct assay_fields *env, const char *cpuinfo, int error)
{
    static const char *const keys[] = {"model name", "cpu model", "cpu",
                                       "uarch", "Processor"};
    char value[VALUE], part[VALUE];

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (cpuinfo_value(cpuinfo, keys[i], value, sizeof(value))) {
            put(env, "cpu", value);
            return;
        }
    if (cpuinfo_value(cpuinfo, "CPU implementer", part, sizeof(part)) &&
        cpuinfo_value(cpuinfo, "CPU part", value, sizeof(value))) {
        append(part, sizeof(part), " part %s", value);
        snprintf(value, sizeof(value), "implementer %.200s", part);
        put(env, "cpu", value);
        return;
    }
    put_unknown(env, "cpu", error);
}

static void put_microcode(struct assay_fields *env, const char *root,
                          const char *cpuinfo, int error)
{
    char value[VALUE];

    if (error == ENOMEM)
        put_unknown(env, "microcode", error);
    else if (cpuinfo_value(cpuinfo, "microcode", value, sizeof(value)))
        put(env, "microcode", value);
    else
        put_file(env, "microcode", root, CPU_DIR "/cpu0/microcode/version");
}

/* "hypervisor" among the flags: no other architecture than x86 tells. */
static void put_hypervisor(struct assay_fields *env, const char *root,
                           const char *cpuinfo, int error)
{
    char value[VALUE], flags[LONG_VALUE];

    if (assay_file_line(value, sizeof(value), root, "/sys/hypervisor/type") > 0)
        put(env, "hypervisor", value);
    else if (cpuinfo_value(cpuinfo, "flags", flags, sizeof(flags)))
        put(env, "hypervisor", strstr(flags, "hypervisor") ? "yes" : "no");
    else
        put_unknown(env, "hypervisor", error);
}

/* One cache as "L2=512K"; instruction caches as L1i. */
static void append_cache(char *buf, size_t size, const char *root, unsigned cpu,
                         unsigned i)
{
    char level[8], type[16], bytes[16];

    if (assay_file_line(level, sizeof(level), root,
                        CPU_DIR "/cpu%u/cache/index%u/level", cpu, i) <= 0 ||
        assay_file_line(type, sizeof(type), root,
                        CPU_DIR "/cpu%u/cache/index%u/type", cpu, i) <= 0 ||
        assay_file_line(bytes, sizeof(bytes), root,
                        CPU_DIR "/cpu%u/cache/index%u/size", cpu, i) <= 0)
        return;
    append(buf, size, "%sL%s%s=%s", *buf ? " " : "", level,
           strcmp(type, "Data") == 0          ? "d"
           : strcmp(type, "Instruction") == 0 ? "i"
                                              : "",
           bytes);
}

static void put_caches(struct assay_fields *env, const char *root,
                       const struct assay_topology *t)
{
    char value[VALUE] = "";

    for (unsigned i = 0; t->ncpus && i < 8; i++)
        append_cache(value, sizeof(value), root, t->cpus[0].cpu, i);
    put(env, "caches", value);
    assay_fields_count(env, "cache_bytes", t->cache);
    put(env, "cache_source", t->cache_source);
    if (t->memory_cache)
        assay_fields_count(env, "memory_cache_bytes", t->memory_cache);
}

/* The governor of all allowed CPUs, or how they differ. */
static void put_governor(struct assay_fields *env, const char *root,
                         const struct assay_topology *t)
{
    char first[64] = "", other[64];

    for (size_t i = 0; i < t->ncpus; i++) {
        if (assay_file_line(other, sizeof(other), root,
                            CPU_DIR "/cpu%u/cpufreq/scaling_governor",
                            t->cpus[i].cpu) < 0) {
            put_unknown(env, "governor", errno);
            return;
        }
        if (i == 0)
            memcpy(first, other, sizeof(first));
        if (strcmp(first, other) != 0) {
            char both[VALUE];

            snprintf(both, sizeof(both), "mixed (%s, %s)", first, other);
            put(env, "governor", both);
            return;
        }
    }
    put(env, "governor", first);
}

/* intel_pstate says when turbo is off, the others when boost is on. */
static void put_turbo(struct assay_fields *env, const char *root)
{
    uint64_t off;

    if (assay_file_count(&off, root, CPU_DIR "/intel_pstate/no_turbo") == 0)
        put(env, "turbo", off ? "off" : "on");
    else
        put_switch(env, "turbo", root, CPU_DIR "/cpufreq/boost");
}

static void put_cpus(struct assay_fields *env, const struct assay_topology *t)
{
    int *cpus = malloc((t->ncpus ? t->ncpus : 1) * sizeof(*cpus));
    char *list;

    for (size_t i = 0; cpus && i < t->ncpus; i++)
        cpus[i] = (int)t->cpus[i].cpu;
    list = cpus ? assay_cpu_list(cpus, t->ncpus) : NULL;
    assay_fields_text(env, "allowed_cpus", list ? list : "unknown (no memory)");
    free(list);
    free(cpus);
}

static void put_processor(struct assay_fields *env, const char *root,
                          const struct assay_topology *t)
{
    char *cpuinfo = assay_file_text(root, "/proc/cpuinfo");
    int error = cpuinfo ? 0 : errno;

    put_model(env, cpuinfo, error);
    put_microcode(env, root, cpuinfo, error);
    assay_fields_count(env, "cores", t->ncores);
    assay_fields_count(env, "threads", t->ncpus);
    assay_fields_count(env, "sockets", t->npackages);
    if (t->nnumas)
        assay_fields_count(env, "numa_nodes", t->nnumas);
    else
        put_unknown(env, "numa_nodes", 0);
    put_cpus(env, t);
    put_file(env, "online_cpus", root, CPU_DIR "/online");
    put_caches(env, root, t);
    put_governor(env, root, t);
    put_file(env, "cpufreq_driver", root,
             CPU_DIR "/cpu0/cpufreq/scaling_driver");
    put_turbo(env, root);
    put_switch(env, "smt", root, CPU_DIR "/smt/active");
    put_hypervisor(env, root, cpuinfo, error);
    assay_fields_text(env, "topology",
                      t->this_machine ? "this machine" : "recorded");
    free(cpuinfo);
}

/* --- memory and board ----------------------------------------------------- */

static void put_memory(struct assay_fields *env, const char *root,
                       const struct assay_topology *t)
{
    struct assay_memory m = assay_memory_under(root, t);
    char meminfo[LONG_VALUE], policy[VALUE];
    int error =
        assay_file_read(meminfo, sizeof(meminfo), root, "/proc/meminfo") < 0
            ? errno
            : 0;
    uint64_t total;

    if (assay_text_count(meminfo, "MemTotal", &total) == 0)
        assay_fields_count(env, "memory", total);
    else
        put_unknown(env, "memory", error);
    assay_fields_count(env, "memory_available", m.available);
    put(env, "memory_limit", m.limit);
    put(env, "mempolicy", assay_policy_text(policy, sizeof(policy)));
    put_chosen(env, "thp", root, "/sys/kernel/mm/transparent_hugepage/enabled");
    put_chosen(env, "thp_defrag", root,
               "/sys/kernel/mm/transparent_hugepage/defrag");
    put_switch(env, "numa_balancing", root, "/proc/sys/kernel/numa_balancing");
}

/* Several DMI texts in one value. */
static void put_dmi(struct assay_fields *env, const char *key, const char *root,
                    const char *const *files)
{
    char value[VALUE] = "", line[VALUE];
    int error = 0;

    for (; *files; files++) {
        if (assay_file_line(line, sizeof(line), root, "/sys/class/dmi/id/%s",
                            *files) > 0)
            append(value, sizeof(value), "%s%s", *value ? " " : "", line);
        else if (!error)
            error = errno;
    }
    if (*value)
        put(env, key, value);
    else
        put_unknown(env, key, error);
}

/* Modules as the firmware tells them: "8 x 32768 MB 3200 MT/s, 8 empty". */
static void put_dimms(struct assay_fields *env, const char *root)
{
    enum { TABLE = 1 << 16 };
    char *table = malloc(TABLE);
    long n = table ? assay_file_read(table, TABLE, root,
                                     "/sys/firmware/dmi/tables/DMI")
                   : -1;
    char value[VALUE];

    if (n < 0)
        put_unknown(env, "dimms", table ? errno : ENOMEM);
    else
        put(env, "dimms",
            assay_dimms((unsigned char *)table, (size_t)n, value,
                        sizeof(value)));
    free(table);
}

static void put_board(struct assay_fields *env, const char *root)
{
    static const char *const bios[] = {"bios_vendor", "bios_version",
                                       "bios_date", NULL};
    static const char *const board[] = {"sys_vendor", "product_name",
                                        "board_vendor", "board_name", NULL};
    char model[VALUE];

    put_dimms(env, root);
    put_dmi(env, "bios", root, bios);
    if (assay_file_line(model, sizeof(model), root,
                        "/sys/firmware/devicetree/base/model") > 0)
        put(env, "board", model);
    else
        put_dmi(env, "board", root, board);
}

/* --- software ------------------------------------------------------------- */

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)", with or without quotes. */
static void put_os(struct assay_fields *env, const char *root)
{
    char *text = assay_file_text(root, "/etc/os-release");
    const char *name = text ? strstr(text, "PRETTY_NAME=") : NULL;
    char value[VALUE] = "";

    if (!text) {
        put_unknown(env, "os", errno);
        return;
    }
    if (name) {
        name += strlen("PRETTY_NAME=");
        name += strspn(name, "\"'");
        snprintf(value, sizeof(value), "%.*s", (int)strcspn(name, "\"'\n"),
                 name);
    }
    put(env, "os", value);
    free(text);
}

static void put_kernel(struct assay_fields *env, const char *root)
{
    struct utsname u;

    if (uname(&u) == 0) {
        put(env, "kernel", u.release);
        put(env, "kernel_build", u.version);
        put(env, "arch", u.machine);
    } else {
        put_unknown(env, "kernel", errno);
    }
    put_file(env, "kernel_options", root, "/proc/cmdline");
    put_os(env, root);
}

/* Base name of the OpenMP library that is really mapped. */
static const char *openmp_library(char *buf, size_t size)
{
    static const char *const names[] = {"/libgomp", "/libomp", "/libiomp",
                                        "/libnvomp", "/libcraymp"};
    char *maps = assay_file_text("", "/proc/self/maps");

    snprintf(buf, size, maps ? "no library" : "unknown library");
    for (size_t i = 0; maps && i < sizeof(names) / sizeof(names[0]); i++) {
        const char *found = strstr(maps, names[i]);

        if (found) {
            snprintf(buf, size, "%.*s", (int)strcspn(found + 1, "\n /"),
                     found + 1);
            break;
        }
    }
    free(maps);
    return buf;
}

static void put_openmp(struct assay_fields *env)
{
    char library[VALUE], value[VALUE + 32];

    openmp_library(library, sizeof(library));
#ifdef _OPENMP
    snprintf(value, sizeof(value), "%d %s", _OPENMP, library);
#else
    snprintf(value, sizeof(value), "none %s", library);
#endif
    put(env, "openmp", value);
}

static void put_libc(struct assay_fields *env)
{
#ifdef __GLIBC__
    char value[64];

    snprintf(value, sizeof(value), "glibc %s", gnu_get_libc_version());
    put(env, "libc", value);
#else
    put(env, "libc", "unknown (not glibc)");
#endif
}

static void put_build(struct assay_fields *env)
{
    char hash[65], version[64];

    put(env, "version", PACKAGE_VERSION);
    put(env, "git", ASSAY_GIT_REVISION);
    if (assay_sha256_file("/proc/self/exe", hash) == 0)
        put(env, "sha256", hash);
    else
        put_unknown(env, "sha256", errno);
    put(env, "compiler", ASSAY_CC_VERSION);
    put(env, "flags", ASSAY_CFLAGS);
    put_openmp(env);
    put_libc(env);
    put(env, "hwloc", assay_topology_hwloc_version(version, sizeof(version)));
}

/* --- confinement ---------------------------------------------------------- */

/* What marks a container: a file, or a variable of the environment. */
static const char *container(const char *root, char *buf, size_t size)
{
    static const char *const variables[][2] = {
        {"APPTAINER_CONTAINER", "apptainer"},
        {"SINGULARITY_CONTAINER", "singularity"},
        {"CH_RUNNING", "charliecloud"},
    };

    if (assay_file_line(buf, size, root, "/run/systemd/container") > 0)
        return buf;
    if (assay_file_read(buf, size, root, "/run/.containerenv") >= 0)
        return "podman";
    if (assay_file_read(buf, size, root, "/.dockerenv") >= 0)
        return "docker";
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (getenv(variables[i][0]))
            return variables[i][1];
    return "none found";
}

/* The own control groups; one line each in the file. */
static void put_cgroup(struct assay_fields *env, const char *root)
{
    char text[1024];
    long n = assay_file_read(text, sizeof(text), root, "/proc/self/cgroup");

    if (n < 0) {
        put_unknown(env, "cgroup", errno);
        return;
    }
    while (n > 0 && text[n - 1] == '\n')
        text[--n] = '\0';
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    put(env, "cgroup", text);
}

/* Variables that change how a program runs or is measured. A preloaded
 * library can even change what it measures. */
static bool is_telling(const char *variable)
{
    static const char *const prefixes[] = {
        "OMP_", "GOMP_",  "KMP_",   "LIBOMP_",         "MALLOC_",
        "LD_",  "HWLOC_", "ASSAY_", "GLIBC_TUNABLES=", NULL};

    for (size_t i = 0; prefixes[i]; i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Each is cut to a length, but none is left out: a long one must not hide the
 * one behind it. */
static void put_variables(struct assay_fields *env)
{
    enum { LONGEST = 1024 };
    size_t size = 1;
    char *value;

    for (char **p = environ; p && *p; p++)
        size += is_telling(*p) ? LONGEST + 2 : 0;
    value = calloc(1, size);
    for (char **p = environ; value && p && *p; p++)
        if (is_telling(*p))
            append(value, size, "%s%.*s", *value ? " " : "", LONGEST, *p);
    if (!value)
        put(env, "variables", "unknown (no memory)");
    else
        put(env, "variables", *value ? value : "none");
    free(value);
}

static void put_preload(struct assay_fields *env, const char *root)
{
    char line[VALUE];

    if (assay_file_line(line, sizeof(line), root, "/etc/ld.so.preload") >= 0)
        put(env, "ld_so_preload", *line ? line : "none");
    else if (errno == ENOENT)
        put(env, "ld_so_preload", "none");
    else
        put_unknown(env, "ld_so_preload", errno);
}

static void put_confinement(struct assay_fields *env, const char *root,
                            const struct assay_topology *t)
{
    char buf[VALUE];

    if (t->quota > 0)
        assay_fields_real(env, "quota", t->quota);
    else
        put(env, "quota", "none");
    put_cgroup(env, root);
    put(env, "container", container(root, buf, sizeof(buf)));
    assay_fields_text(env, "privileged", geteuid() == 0 ? "yes" : "no");
    put_preload(env, root);
    put_variables(env);
}

char *assay_hostname(char *buf, size_t size)
{
    if (gethostname(buf, size) != 0 && errno != ENAMETOOLONG)
        buf[0] = '\0';
    buf[size - 1] = '\0';
    if (!*buf)
        snprintf(buf, size, "unknown");
    return buf;
}

void assay_provenance_under(struct assay_fields *env, const char *root,
                            const struct assay_topology *t)
{
    char host[VALUE];

    put(env, "host", assay_hostname(host, sizeof(host)));
    put_processor(env, root, t);
    put_memory(env, root, t);
    put_board(env, root);
    put_kernel(env, root);
    put_build(env);
    put_confinement(env, root, t);
}

void assay_provenance(struct assay_fields *env, const struct assay_topology *t)
{
    assay_provenance_under(env, "", t);
}

/* --- load ----------------------------------------------------------------- */

/* Key with the prefix; buf holds it until the next one. */
static const char *key_of(const char *prefix, const char *key, char *buf,
                          size_t size)
{
    snprintf(buf, size, "%s%s", prefix, key);
    return buf;
}

static void put_loads(struct assay_fields *f, const char *root,
                      const char *prefix)
{
    char line[VALUE], key[64];
    double one, five, fifteen;

    errno = 0;
    if (assay_file_line(line, sizeof(line), root, "/proc/loadavg") < 0 ||
        sscanf(line, "%lf %lf %lf", &one, &five, &fifteen) != 3) {
        put_unknown(f, key_of(prefix, "load", key, sizeof(key)), errno);
        return;
    }
    snprintf(line, sizeof(line), "%.2f,%.2f,%.2f", one, five, fifteen);
    put(f, key_of(prefix, "load", key, sizeof(key)), line);
}

/* Pressure stall: the share of the last 10 s in which something waited, and
 * the microseconds waited since boot. */
static void put_pressure(struct assay_fields *f, const char *root,
                         const char *prefix, const char *what)
{
    char line[VALUE], key[64], name[64];
    double recent;
    unsigned long long total;

    snprintf(name, sizeof(name), "psi_%s", what);
    errno = 0;
    if (assay_file_line(line, sizeof(line), root, "/proc/pressure/%s", what) <
            0 ||
        sscanf(line, "some avg10=%lf %*s %*s total=%llu", &recent, &total) !=
            2) {
        put_unknown(f, key_of(prefix, name, key, sizeof(key)), errno);
        return;
    }
    assay_fields_real(f, key_of(prefix, name, key, sizeof(key)), recent);
    snprintf(name, sizeof(name), "psi_%s_us", what);
    assay_fields_count(f, key_of(prefix, name, key, sizeof(key)), total);
}

/* Seconds since boot that all CPUs together were busy, and that a hypervisor
 * kept them from running. */
static void put_stolen(struct assay_fields *f, const char *root,
                       const char *prefix)
{
    unsigned long long user, nice, system, irq, softirq, steal;
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    char line[VALUE], key[64];

    errno = 0;
    if (assay_file_line(line, sizeof(line), root, "/proc/stat") < 0 ||
        sscanf(line, "cpu %llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice,
               &system, &irq, &softirq, &steal) != 6) {
        put_unknown(f, key_of(prefix, "steal", key, sizeof(key)), errno);
        return;
    }
    assay_fields_real(f, key_of(prefix, "steal", key, sizeof(key)),
                      (double)steal * tick);
    assay_fields_real(f, key_of(prefix, "busy", key, sizeof(key)),
                      (double)(user + nice + system + irq + softirq) * tick);
}

/* Seconds that a cgroup's quota kept this process's group from running: where
 * samples are shorter than what the quota grants at a time, most are whole, and
 * neither best nor median tells. */
static void put_throttled(struct assay_fields *f, const char *root,
                          const char *prefix)
{
    double seconds = assay_cgroup_throttled(root);
    char key[64];

    if (seconds >= 0)
        assay_fields_real(f, key_of(prefix, "throttled", key, sizeof(key)),
                          seconds);
}

/* What of busy was this process. */
static void put_own(struct assay_fields *f, const char *prefix)
{
    struct rusage r;
    char key[64];

    if (getrusage(RUSAGE_SELF, &r) != 0)
        return;
    assay_fields_real(
        f, key_of(prefix, "own", key, sizeof(key)),
        (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
            1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec));
}

void assay_load_under(struct assay_fields *f, const char *root,
                      const char *prefix)
{
    put_loads(f, root, prefix);
    put_pressure(f, root, prefix, "cpu");
    put_pressure(f, root, prefix, "memory");
    put_stolen(f, root, prefix);
    put_throttled(f, root, prefix);
    put_own(f, prefix);
}

void assay_load(struct assay_fields *f, const char *prefix)
{
    assay_load_under(f, "", prefix);
}
