/* peer.c - build and run the user's stream.c under the conditions of ours. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stream/child.h"
#include "stream/peer.h"

extern char **environ;

enum { PATH_SIZE = 512 };

/* The private folder that a build is made in. A process of its own, the keeper,
 * removes it when nobody holds the other end of a pipe any more: whatever ends
 * us, a signal too, the folder goes. */
struct folder {
    char path[PATH_SIZE], source[PATH_SIZE], single[PATH_SIZE],
        multi[PATH_SIZE];
    int held;
    pid_t keeper;
};

/* The keeper, which no signal reaches. A compiler that is being ended with us
 * may yet write a file, so it tries for 5 s. */
static _Noreturn void folder_keep(const struct folder *folder, int end)
{
    char byte;

    close(folder->held);
    for (int fd = 0; fd <= 2; fd++)
        if (fd != end)
            close(fd);
    while (read(end, &byte, 1) > 0)
        ;
    for (int i = 0; i < 50; i++) {
        unlink(folder->source);
        unlink(folder->single);
        unlink(folder->multi);
        if (rmdir(folder->path) == 0 || errno == ENOENT)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    _exit(0);
}

static int folder_hold(struct folder *folder)
{
    sigset_t all, before;
    int ends[2];

    if (pipe(ends) < 0)
        return -1;
    folder->held = ends[1];
    fcntl(folder->held, F_SETFD, FD_CLOEXEC); /* not for compilers to hold */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    folder->keeper = fork();
    if (folder->keeper == 0)
        folder_keep(folder, ends[0]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    return folder->keeper < 0 ? -1 : 0;
}

static void folder_remove(const struct folder *folder)
{
    close(folder->held);
    while (waitpid(folder->keeper, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void folder_make(const struct plan *plan, struct folder *folder)
{
    const char *parent = getenv("TMPDIR");
    int length =
        snprintf(folder->path, sizeof(folder->path), "%s/assay-stream.XXXXXX",
                 parent && *parent ? parent : "/tmp");

    if (length + 16 > PATH_SIZE || !mkdtemp(folder->path))
        assay_die(plan->run, ASSAY_BROKEN, "%s: %s", folder->path,
                  length + 16 > PATH_SIZE ? "too long" : strerror(errno));
    memcpy(folder->source, folder->path, sizeof(folder->path));
    strcat(folder->source, "/stream.c");
    memcpy(folder->single, folder->path, sizeof(folder->path));
    strcat(folder->single, "/single");
    memcpy(folder->multi, folder->path, sizeof(folder->path));
    strcat(folder->multi, "/multi");
    if (folder_hold(folder) < 0) {
        int error = errno;

        rmdir(folder->path);
        assay_die(plan->run, ASSAY_BROKEN, "%s: %s", folder->path,
                  strerror(error));
    }
}

static bool is_url(const char *name)
{
    return strncmp(name, "https://", 8) == 0 ||
           strncmp(name, "http://", 7) == 0;
}

/* Get the source that the user names; the path of it. */
static const char *fetch(const struct plan *plan, const struct folder *folder)
{
    static const char *const curl[] = {
        "curl",          "-fsSL",       "--proto", "=https,http",
        "--proto-redir", "=https,http", "-o"};
    const char *name = plan->opt->original;
    struct words argv = {0};
    struct stat st;
    int status;

    if (!is_url(name)) {
        int error = access(name, R_OK) == 0 && stat(name, &st) == 0 ? 0 : errno;

        if (!error && S_ISREG(st.st_mode))
            return name;
        folder_remove(folder);
        assay_die(plan->run, ASSAY_USAGE, "--original=%s: %s", name,
                  error ? strerror(error) : "no plain file");
    }
    for (size_t i = 0; i < sizeof(curl) / sizeof(*curl); i++)
        words_add(&argv, curl[i]);
    words_add(&argv, folder->source);
    words_add(&argv, "--url");
    words_add(&argv, name);
    status =
        child_run(&(struct child){.argv = &argv, .program = -1, .cpu = -1});
    words_free(&argv);
    if (status == 0)
        return folder->source;
    folder_remove(folder);
    assay_die(plan->run, ASSAY_NOTRUN, "--original=%s: %s", name,
              status == 127 ? "curl is not on the path"
                            : "curl could not fetch it");
}

static void add_number(struct words *words, const char *before, uint64_t value)
{
    char word[64];

    snprintf(word, sizeof(word), "%s%llu", before, (unsigned long long)value);
    words_add(words, word);
}

/* Static arrays of 2 GiB and more need another code model. */
static bool needs_medium(const struct plan *plan, uint64_t n)
{
#if defined __x86_64__
    return assay_product(3, stream_bytes(plan, n)) > UINT64_C(0x7f000000);
#else
    (void)plan, (void)n;
    return false;
#endif
}

static void compile(const struct plan *plan, const struct folder *folder,
                    const char *source, enum peer_build build, uint64_t n,
                    struct peer *peer)
{
    const struct options *opt = plan->opt;
    const char *flags = opt->flags ? opt->flags : "-O3 -march=native";
    const char *output = build == PEER_MULTI ? folder->multi : folder->single;
    char *command = peer->command[build];
    struct words argv = {0};
    int status;

    words_split(&argv, opt->compiler ? opt->compiler : "cc");
    words_split(&argv, flags);
    if (build == PEER_MULTI)
        words_add(&argv, "-fopenmp");
    if (needs_medium(plan, n))
        words_add(&argv, "-mcmodel=medium");
    add_number(&argv, "-DSTREAM_ARRAY_SIZE=", n);
    add_number(&argv, "-DNTIMES=", opt->repetitions);
    if (opt->type == ASSAY_FLOAT)
        words_add(&argv, "-DSTREAM_TYPE=float");
    command[0] = '\0';
    for (size_t i = 0; i < argv.n; i++)
        snprintf(command + strlen(command),
                 sizeof(peer->command[build]) - strlen(command), "%s%s",
                 i ? " " : "", argv.word[i]);
    words_add(&argv, "-o");
    words_add(&argv, output);
    words_add(&argv, "-x");
    words_add(&argv, "c");
    words_add(&argv, source);
    words_add(&argv, "-lm");
    status =
        child_run(&(struct child){.argv = &argv, .program = -1, .cpu = -1});
    words_free(&argv);
    peer->program[build] =
        status == 0 ? open(output, O_RDONLY | O_CLOEXEC) : -1;
    if (peer->program[build] >= 0)
        return;
    folder_remove(folder);
    assay_die(plan->run, status == 127 ? ASSAY_NOTRUN : ASSAY_BROKEN,
              "--original: '%s' %s", command,
              status == 127 ? "can't be run" : "failed");
}

void peer_build(const struct plan *plan, uint64_t n, struct peer *peer)
{
    struct folder folder;
    const char *source;

    folder_make(plan, &folder);
    source = fetch(plan, &folder);
    compile(plan, &folder, source, PEER_SINGLE, n, peer);
    compile(plan, &folder, source, PEER_MULTI, n, peer);
    folder_remove(&folder);
}

void peer_close(struct peer *peer)
{
    for (int i = 0; i < PEER_BUILDS; i++)
        close(peer->program[i]);
}

/* The environment, with our threads and places for OpenMP's. */
static void make_environment(const struct plan *plan, const int *cpus,
                             size_t threads, struct words *envp)
{
    char *places = malloc(16 + threads * 16);
    size_t length = 0;

    for (char **e = environ; *e; e++)
        if (strncmp(*e, "OMP_", 4) != 0 && strncmp(*e, "GOMP_", 5) != 0 &&
            strncmp(*e, "KMP_", 4) != 0)
            words_add(envp, *e);
    add_number(envp, "OMP_NUM_THREADS=", threads);
    if (plan->opt->pin != ASSAY_PIN_NONE && places) {
        length = (size_t)sprintf(places, "OMP_PLACES=");
        for (size_t i = 0; i < threads; i++)
            length += (size_t)sprintf(places + length, "%s{%d}", i ? "," : "",
                                      cpus[i]);
        words_add(envp, places);
        words_add(envp, "OMP_PROC_BIND=true");
    }
    free(places);
}

/* The number behind `before` at the start of a line: the whole word, or
 * nothing. Returns whether the line begins so. */
static bool number_after(const char *line, const char *before, double *value)
{
    size_t length = strlen(before);
    char word[64] = "";

    if (strncmp(line, before, length) != 0)
        return false;
    line += length + strspn(line + length, " \t");
    length = strcspn(line, " \t\r\n");
    if (length < sizeof(word))
        memcpy(word, line, length);
    if (assay_parse_real(word, value) < 0)
        *value = 0.0;
    return true;
}

static void complain(struct peer_result *result, const char *format,
                     const char *name)
{
    if (!result->why[0])
        snprintf(result->why, sizeof(result->why), format, name);
}

/* A number of things, or one that no such number equals. */
static uint64_t count_of(double value)
{
    return value >= 0.0 && value < 1e18 ? (uint64_t)value : UINT64_MAX;
}

static void parse_line(const char *line, struct peer_result *result)
{
    double value;

    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++) {
        char label[16];

        snprintf(label, sizeof(label),
                 "%s:", assay_work((enum assay_op)op)->label);
        if (!number_after(line, label, &value))
            continue;
        if (!(value > 0.0) || result->rate[op] > 0.0)
            complain(result, "its row %s has no rate, or comes twice", label);
        result->rate[op] = value;
    }
    if (number_after(line, "Array size =", &value))
        result->elements = count_of(value);
    if (number_after(line, "Number of Threads counted =", &value))
        result->threads = count_of(value);
    if (strncmp(line, "Solution Validates", 18) == 0)
        result->validates = true;
    if (strncmp(line, "Failed Validation", 17) == 0)
        complain(result, "it says: %s", "Failed Validation");
}

/* What it says of itself in its 5.10 layout. */
static void parse(const char *text, struct peer_result *result)
{
    *result = (struct peer_result){0};
    while (*text) {
        parse_line(text, result);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    for (size_t op = 0; op < ASSAY_STREAM_OPS; op++)
        if (!(result->rate[op] > 0.0))
            complain(result, "it prints no rate for %s",
                     assay_work((enum assay_op)op)->label);
    result->read =
        result->why[0] == '\0' || strncmp(result->why, "it says", 7) == 0;
    if (!result->validates)
        complain(result, "it prints no line %s", "'Solution Validates'");
    if (result->why[0])
        result->validates = false;
}

struct peer_result peer_run(const struct plan *plan, const struct peer *peer,
                            enum peer_build build, size_t threads)
{
    struct words argv = {0}, envp = {0};
    struct peer_result result;
    char *output = NULL;
    int *cpus = calloc(threads, sizeof(*cpus)), status = -1;

    /* Our threads sleep when they have waited long enough (libomp: 0.2 s). */
    if (threads > 1)
        nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
    words_add(&argv, "stream");
    if (cpus && assay_pin_plan(plan->topology, (enum assay_pin)plan->opt->pin,
                               threads, -1, cpus) == 0) {
        make_environment(plan, cpus, threads, &envp);
        status = child_run(
            &(struct child){.argv = &argv,
                            .program = peer->program[build],
                            .envp = &envp,
                            .cpu = build == PEER_SINGLE ? cpus[0] : -1,
                            .output = &output});
    }
    if (!output)
        assay_die(plan->run, ASSAY_BROKEN, "--original: %s", strerror(errno));
    if (status == 127)
        assay_die(plan->run, ASSAY_NOTRUN,
                  "--original: '%s' made no program that can be run here "
                  "(TMPDIR on a noexec mount?)",
                  peer->command[build]);
    parse(output, &result);
    if (status != 0) {
        result.validates = false;
        snprintf(result.why, sizeof(result.why), "it ends with status %d",
                 status);
    }
    free(output);
    free(cpus);
    words_free(&argv);
    words_free(&envp);
    return result;
}
