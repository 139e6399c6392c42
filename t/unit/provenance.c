/* provenance.c - the env line says all it should, whatever the files hold. */
#include "config.h"

#include <sys/wait.h>
#include <unistd.h>

#include "lib/provenance.h"
#include "lib/provenance_dmi.h"
#include "t/unit/tap.h"
#include "t/unit/tree.h"

static const char *const keys[] = {"host",
                                   "cpu",
                                   "microcode",
                                   "cores",
                                   "threads",
                                   "sockets",
                                   "numa_nodes",
                                   "allowed_cpus",
                                   "online_cpus",
                                   "caches",
                                   "cache_bytes",
                                   "cache_source",
                                   "governor",
                                   "turbo",
                                   "smt",
                                   "hypervisor",
                                   "memory",
                                   "memory_limit",
                                   "mempolicy",
                                   "thp",
                                   "thp_defrag",
                                   "dimms",
                                   "numa_balancing",
                                   "bios",
                                   "board",
                                   "kernel",
                                   "kernel_options",
                                   "os",
                                   "version",
                                   "git",
                                   "sha256",
                                   "compiler",
                                   "flags",
                                   "openmp",
                                   "libc",
                                   "hwloc",
                                   "quota",
                                   "cgroup",
                                   "container",
                                   "privileged",
                                   "ld_so_preload",
                                   "variables",
                                   "topology",
                                   "memory_available",
                                   "cpufreq_driver"};

/* Value of a key as it stands in the line, quotes and all, up to the next
 * blank outside of quotes; buf gets it. NULL where the key is missing. */
static const char *value_of(const char *text, const char *key, char *buf,
                            size_t size)
{
    size_t n = strlen(key), i = 0;
    bool quoted = false;

    for (; text && *text; text++) {
        if (!quoted && strncmp(text, key, n) == 0 && text[n] == '=')
            break;
        for (; *text && (quoted || *text != ' '); text++) {
            if (quoted && *text == '\\' && text[1])
                text++;
            else if (*text == '"')
                quoted = !quoted;
        }
        if (!*text)
            return NULL;
    }
    if (!text || !*text)
        return NULL;
    for (text += n + 1; *text && (quoted || *text != ' ') && i < size - 2;
         text++) {
        if (quoted && *text == '\\' && text[1])
            buf[i++] = *text++;
        else if (*text == '"')
            quoted = !quoted;
        buf[i++] = *text;
    }
    buf[i] = '\0';
    return buf;
}

static struct assay_topology one_cpu(struct assay_cpu *cpu)
{
    *cpu = (struct assay_cpu){.cpu = 0};
    return (struct assay_topology){.cpus = cpu,
                                   .ncpus = 1,
                                   .ncores = 1,
                                   .npackages = 1,
                                   .cache = 1,
                                   .cache_source = "assumed"};
}

static void test_whole(const char *root, const char *what)
{
    struct assay_cpu cpu;
    struct assay_topology t = one_cpu(&cpu);
    struct assay_fields f = {0};
    char value[8192];
    bool blank = false, missing = false;

    assay_provenance_under(&f, root, &t);
    is_count((uint64_t)f.error, 0, "%s: nothing went wrong", what);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *v = value_of(f.text, keys[i], value, sizeof(value));

        if (!v)
            diag("%s is missing", keys[i]);
        missing |= !v;
        blank |= v && (!*v || strcmp(v, "\"\"") == 0);
    }
    ok(!missing, "%s: every key is there", what);
    ok(!blank, "%s: none is blank", what);
    ok(f.text && !strpbrk(f.text, "\n\r\t\033"),
       "%s: no control character gets through", what);
    assay_fields_free(&f);
}

/* --- single files --------------------------------------------------------- */

static const struct file_case {
    const char *path, *text, *key, *value;
} cases[] = {
    {"/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some  CPU @ 2 GHz\n",
     "cpu", "\"Some  CPU @ 2 GHz\""},
    {"/proc/cpuinfo", "cpu\t\t: POWER9, altivec supported\n", "cpu",
     "\"POWER9, altivec supported\""},
    {"/proc/cpuinfo",
     "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n", "cpu",
     "\"implementer 0x41 part 0xd0c\""},
    {"/proc/cpuinfo", "model name\t:\n", "cpu", "\"unknown (not exposed)\""},
    {"/proc/cpuinfo", "", "cpu", "\"unknown (not exposed)\""},
    {"/proc/cpuinfo", "model name : a\033[31mb\x7f\"\\\n", "cpu",
     "\"a\\x1b[31mb\\x7f\\\"\\\\\""},
    {"/proc/cpuinfo", "microcode\t: 0xd000389\n", "microcode", "0xd000389"},
    {"/proc/cpuinfo", "flags\t: fpu hypervisor sse\n", "hypervisor", "yes"},
    {"/proc/cpuinfo", "flags\t: fpu sse\n", "hypervisor", "no"},
    {"/proc/cpuinfo", "Features\t: fp\n", "hypervisor",
     "\"unknown (not exposed)\""},
    {"/proc/meminfo", "MemTotal:  16 kB\n", "memory", "16384"},
    {"/proc/meminfo", "MemTotal:  many kB\n", "memory",
     "\"unknown (not exposed)\""},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n",
     "thp", "madvise"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "[never", "thp",
     "\"[never\""},
    {"/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n", "turbo", "off"},
    {"/sys/devices/system/cpu/cpufreq/boost", "1\n", "turbo", "on"},
    {"/sys/devices/system/cpu/smt/active", "1\n", "smt", "on"},
    {"/proc/sys/kernel/numa_balancing", "0\n", "numa_balancing", "off"},
    {"/proc/sys/kernel/numa_balancing", "2\n", "numa_balancing", "2"},
    {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n",
     "governor", "performance"},
    {"/etc/os-release", "NAME=X\nPRETTY_NAME=\"Some Linux 9\"\n", "os",
     "\"Some Linux 9\""},
    {"/etc/os-release", "NAME=X\nPRETTY_NAME=Bare\n", "os", "Bare"},
    {"/sys/class/dmi/id/board_name", "X12DPT\n", "board", "X12DPT"},
    {"/sys/class/dmi/id/bios_version", "1.4b \n", "bios", "1.4b"},
    {"/proc/self/cgroup", "1:cpu:/a\n0::/b\n", "cgroup", "\"1:cpu:/a 0::/b\""},
    {"/.dockerenv", "", "container", "docker"},
    {"/run/.containerenv", "", "container", "podman"},
    {"/run/systemd/container", "lxc\n", "container", "lxc"},
    {"/etc/ld.so.preload", "/opt/cheat.so\n", "ld_so_preload", "/opt/cheat.so"},
    {"/nothing", "", "ld_so_preload", "none"},
    {"/nothing", "", "container", "\"none found\""},
    {"/nothing", "", "dimms", "\"unknown (not exposed)\""},
    {"/nothing", "", "topology", "recorded"},
    {"/nothing", "", "quota", "none"},
};

static void test_file(const struct file_case *c)
{
    struct assay_cpu cpu;
    struct assay_topology t = one_cpu(&cpu);
    struct assay_fields f = {0};
    char root[PATH_MAX], value[8192];

    tree_new(root);
    tree_put(root, c->path, c->text);
    assay_provenance_under(&f, root, &t);
    is_text(value_of(f.text, c->key, value, sizeof(value)), c->value, "%s: %s",
            c->path, c->key);
    assay_fields_free(&f);
    tree_free(root);
}

/* Governors that differ. */
static void test_governors(void)
{
    struct assay_cpu cpus[] = {{.cpu = 0}, {.cpu = 1}};
    struct assay_topology t = one_cpu(cpus);
    struct assay_fields f = {0};
    char root[PATH_MAX], value[8192];

    cpus[1].cpu = 1;
    t.ncpus = 2;
    tree_new(root);
    tree_put(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
             "performance\n");
    tree_put(root, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
             "powersave\n");
    assay_provenance_under(&f, root, &t);
    is_text(value_of(f.text, "governor", value, sizeof(value)),
            "\"mixed (performance, powersave)\"", "governors that differ");
    assay_fields_free(&f);
    tree_free(root);
}

/* A file longer than any buffer, binary, is cut. */
static void test_hostile(void)
{
    enum { LONG = 100000 };
    char root[PATH_MAX], *junk = malloc(LONG + 1);

    tree_new(root);
    for (size_t i = 0; junk && i < LONG; i++)
        junk[i] = (char)(i % 251 + 1);
    if (junk) {
        static const char *const paths[] = {
            "/proc/cpuinfo",
            "/proc/meminfo",
            "/proc/self/cgroup",
            "/proc/self/mountinfo",
            "/proc/cmdline",
            "/etc/os-release",
            "/sys/class/dmi/id/bios_vendor",
            "/run/systemd/container",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/firmware/dmi/tables/DMI",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "/sys/devices/system/cpu/online"};

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
            tree_bytes(root, paths[i], junk, LONG);
    }
    test_whole(root, "long binary files");
    free(junk);
    tree_free(root);
}

/* In a child that isn't root, of a file that only root may read. */
static void test_needs_root(void)
{
    char root[PATH_MAX], full[2 * PATH_MAX];
    int status = -1;
    pid_t pid;

    tree_new(root);
    tree_put(root, "/sys/firmware/dmi/tables/DMI", "x");
    snprintf(full, sizeof(full), "%s/sys/firmware/dmi/tables/DMI", root);
    chmod(full, 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct assay_cpu cpu;
        struct assay_topology t = one_cpu(&cpu);
        struct assay_fields f = {0};
        char value[8192];
        const char *v;

        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        assay_provenance_under(&f, root, &t);
        v = value_of(f.text, "dimms", value, sizeof(value));
        status = !v || strcmp(v, "\"unknown (needs root)\"") != 0;
        assay_fields_free(&f);
        _exit(status);
    }
    waitpid(pid, &status, 0);
    ok(status == 0, "what only root may read says so");
    tree_free(root);
}

static void test_variables(void)
{
    struct assay_cpu cpu;
    struct assay_topology t = one_cpu(&cpu);
    struct assay_fields f = {0};
    char value[8192] = "";

    setenv("OMP_PLACES", "cores", 1);
    setenv("MALLOC_ARENA_MAX", "1", 1);
    setenv("MY_SECRET", "hidden", 1);
    assay_provenance_under(&f, "", &t);
    value_of(f.text, "variables", value, sizeof(value));
    ok(strstr(value, "OMP_PLACES=cores") && strstr(value, "MALLOC_ARENA_MAX=1"),
       "variables that change a run are kept");
    ok(f.text && !strstr(f.text, "hidden"), "others are not");
    unsetenv("OMP_PLACES");
    unsetenv("MALLOC_ARENA_MAX");
    assay_fields_free(&f);
}

/* --- memory modules ------------------------------------------------------- */

enum {
    DEVICE = 0x22
}; /* length of the fixed part up to the speed it runs at */

/* Append a type 17 structure with two texts. */
static size_t add_module(unsigned char *table, size_t n, unsigned size,
                         unsigned extended, unsigned speed)
{
    unsigned char *s = table + n;

    memset(s, 0, DEVICE);
    s[0] = 17;
    s[1] = DEVICE;
    s[0x0c] = size & 255;
    s[0x0d] = (unsigned char)(size >> 8);
    for (unsigned i = 0; i < 4; i++)
        s[0x1c + i] = (unsigned char)(extended >> 8 * i);
    s[0x20] = speed & 255;
    s[0x21] = (unsigned char)(speed >> 8);
    memcpy(s + DEVICE, "DIMM_A1\0NODE 1\0", 16);
    return n + DEVICE + 16;
}

static void test_modules(void)
{
    static const unsigned char bios[] = {0, 4, 0, 0, 'B', 0, 0};
    unsigned char table[512];
    char text[256];
    size_t n = sizeof(bios);

    memcpy(table, bios, sizeof(bios));
    for (unsigned i = 0; i < 4; i++)
        n = add_module(table, n, 0x7fff, 65536, 4800);
    n = add_module(table, n, 0, 0, 0);
    is_text(assay_dimms(table, n, text, sizeof(text)),
            "4 x 65536 MB 4800 MT/s, 1 empty", "modules alike, and a gap");
    n = add_module(table, n, 16384, 0, 3200);
    is_text(assay_dimms(table, n, text, sizeof(text)),
            "4 x 65536 MB 4800 MT/s, 1 x 16384 MB 3200 MT/s, 1 empty",
            "an odd one among them shows");
    n = add_module(table, 0, 0xffff, 0, 0);
    is_text(assay_dimms(table, n, text, sizeof(text)), "1 x unknown size",
            "a module of unknown size");
    n = add_module(table, 0, 16384, 0, 3200);
    memmove(table + 0x15, table + DEVICE, n - DEVICE); /* as in SMBIOS 2.1 */
    table[1] = 0x15;
    is_text(assay_dimms(table, n - DEVICE + 0x15, text, sizeof(text)),
            "1 x 16384 MB", "a short structure: texts are no speed");
    is_text(assay_dimms(table, 0, text, sizeof(text)), "unknown (not exposed)",
            "an empty table");
}

/* Cut anywhere, and random: nothing outside is read (sanitizers watch). */
static void test_broken_tables(void)
{
    unsigned state = 1;
    bool ended = true;

    for (size_t n = 0; n < 128; n++)
        for (unsigned round = 0; round < 64; round++) {
            unsigned char *table = malloc(n ? n : 1);
            char text[64];

            for (size_t i = 0; table && i < n; i++) {
                state = state * 1103515245u + 12345u;
                table[i] = state >> 16 & 1 ? 17 : (unsigned char)(state >> 24);
            }
            if (table)
                assay_dimms(table, n, text, sizeof(text));
            ended = ended && table && memchr(text, 0, sizeof(text));
            free(table);
        }
    ok(ended, "broken tables are survived");
}

/* --- load ----------------------------------------------------------------- */

static void test_load(void)
{
    struct assay_fields f = {0};
    char root[PATH_MAX], value[256];

    tree_new(root);
    tree_put(root, "/proc/loadavg", "0.50 1.25 2.00 1/100 1234\n");
    tree_put(root, "/proc/pressure/cpu",
             "some avg10=1.50 avg60=0.67 avg300=0.43 total=7036697\n");
    tree_put(root, "/proc/stat", "cpu  100 0 100 500 0 0 100 250 0 0\n");
    tree_put(root, "/proc/self/cgroup", "1:cpu:/j\n");
    tree_put(root, "/proc/self/mountinfo",
             "30 20 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    tree_put(root, "/sys/fs/cgroup/cpu/j/cpu.stat",
             "nr_periods 9\nnr_throttled 3\nthrottled_time 1500000000\n");
    assay_load_under(&f, root, "before_");
    is_text(value_of(f.text, "before_throttled", value, sizeof(value)), "1.5",
            "what a quota took, in seconds");
    is_text(value_of(f.text, "before_load", value, sizeof(value)),
            "0.50,1.25,2.00", "load");
    is_text(value_of(f.text, "before_psi_cpu", value, sizeof(value)), "1.5",
            "pressure of the last 10 s");
    is_text(value_of(f.text, "before_psi_cpu_us", value, sizeof(value)),
            "7036697", "pressure since boot");
    is_text(value_of(f.text, "before_psi_memory", value, sizeof(value)),
            "\"unknown (not exposed)\"", "a kernel without it");
    is_text(value_of(f.text, "before_steal", value, sizeof(value)), "2.5",
            "steal, in seconds");
    is_text(value_of(f.text, "before_busy", value, sizeof(value)), "3",
            "busy, in seconds");
    assay_load_under(&f, root, "after_");
    ok(f.error == 0 && value_of(f.text, "after_load", value, sizeof(value)),
       "before and after fit on one line");
    assay_fields_free(&f);
    tree_free(root);
}

static void test_hostname(void)
{
    char host[256], cut[4];

    ok(*assay_hostname(host, sizeof(host)), "this host has a name: %s", host);
    assay_hostname(cut, sizeof(cut));
    ok(strlen(cut) <= 3, "which is cut to fit");
}

int main(void)
{
    char root[PATH_MAX];

    test_whole("", "this machine");
    test_whole(tree_new(root), "an empty tree");
    tree_free(root);
    test_hostile();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        test_file(&cases[i]);
    test_governors();
    test_needs_root();
    test_variables();
    test_modules();
    test_broken_tables();
    test_load();
    test_hostname();
    return done_testing();
}
