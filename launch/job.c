/* job.c - start a job, and time what its ranks say. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "launch/launch.h"

enum { WORDS_MOST = 256, LINE_MOST = 4096 };
static const double patience = 10.0; /* s, from the last word to the end */

/* The words to execute; they own their memory, for the program's life. */
struct command {
    char *words[WORDS_MOST + 1];
    size_t n;
};

/* What has arrived of a line. */
struct reader {
    int fd;
    char line[LINE_MOST];
    size_t length;
};

static double now(void)
{
    return assay_now() * 1e3;
}

/* Append to text what `name` stands for; returns how much of it was eaten. */
static size_t fill(const char *at, const struct launch_shape *shape, char *text,
                   size_t size)
{
    const struct {
        const char *name;
        uint64_t value;
    } known[] = {{"{nodes}", shape->nodes},
                 {"{ranks}", shape->ranks},
                 {"{ppn}", shape->ppn}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i].name, strlen(known[i].name)) == 0) {
            snprintf(text, size, "%" PRIu64, known[i].value);
            return strlen(known[i].name);
        }
    snprintf(text, size, "%.1s", at);
    return 1;
}

static void add(struct assay_run *run, struct command *command,
                const char *word)
{
    char *copy = strdup(word);

    if (command->n == WORDS_MOST || copy == NULL)
        assay_die(run, ASSAY_USAGE, "--launch: more than %d words", WORDS_MOST);
    command->words[command->n++] = copy;
}

static void split(struct assay_run *run, const char *launch,
                  const struct launch_shape *shape, struct command *command)
{
    char word[LINE_MOST] = "";
    size_t length = 0;

    for (const char *at = launch;;) {
        if (*at == ' ' || *at == '\0') {
            if (length > 0)
                add(run, command, word);
            word[length = 0] = '\0';
            if (*at == '\0')
                return;
            at++;
            continue;
        }
        if (length > sizeof word - 32)
            assay_die(run, ASSAY_USAGE, "--launch: too long a word");
        at += fill(at, shape, word + length, sizeof word - length);
        length += strlen(word + length);
    }
}

/* In the child: the command, in a process group of its own, ended with us. */
static void become(struct command *command, int output)
{
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execvp(command->words[0], command->words);
    fprintf(stderr, "pmi2: %s: %s\n", command->words[0], strerror(errno));
    _exit(127);
}

static void read_lines(struct reader *reader, struct launch_result *result,
                       double start)
{
    char block[LINE_MOST];
    ssize_t n = read(reader->fd, block, sizeof block);
    double ms = now() - start;

    if (n <= 0) {
        close(reader->fd);
        reader->fd = -1;
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (block[i] != '\n' && reader->length < LINE_MOST - 1) {
            reader->line[reader->length++] = block[i];
            continue;
        }
        reader->line[reader->length] = '\0';
        reader->length = 0;
        launch_hear(result, reader->line, ms);
    }
}

/* Until the launcher has closed its output, or it is time to end it. */
static void listen_to(struct reader *reader, struct launch_result *result,
                      double start, double end, enum launch_word last)
{
    bool whole = false;

    while (reader->fd >= 0) {
        double left = end - now();
        struct pollfd wait = {.fd = reader->fd, .events = POLLIN};

        if (left <= 0)
            break;
        if (poll(&wait, 1, left > 1000 ? 1000 : (int)left + 1) > 0)
            read_lines(reader, result, start);
        if (!whole && result->count[last] == result->shape.ranks) {
            whole = true;
            if (end > now() + patience * 1e3)
                end = now() + patience * 1e3;
        }
    }
    result->killed = whole && reader->fd >= 0;
    result->late = !whole && reader->fd >= 0;
}

/* A launcher that closed its output has a moment to end. */
static int collect(pid_t child, bool kill_it)
{
    int status = 0;

    for (int turn = 0; turn < 1000; turn++) {
        if (kill_it && turn % 300 == 0)
            kill(-child, turn == 0 ? SIGTERM : SIGKILL);
        if (waitpid(child, &status, WNOHANG) == child)
            break;
        if (turn == 600)
            kill_it = true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    kill(-child, SIGKILL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void launch_job(struct assay_run *run, const char *launch, char *const *program,
                double limit, enum launch_word last,
                struct launch_result *result)
{
    struct command command = {.n = 0};
    struct reader reader = {.length = 0};
    int ends[2];

    split(run, launch, &result->shape, &command);
    if (command.n == 0)
        assay_die(run, ASSAY_USAGE, "--launch: no words");
    for (size_t i = 0; program[i] != NULL; i++)
        add(run, &command, program[i]);
    if (pipe(ends) != 0)
        assay_die(run, ASSAY_BROKEN, "pipe: %s", strerror(errno));
    fflush(stdout);
    double start = now();
    pid_t child = fork();
    if (child < 0)
        assay_die(run, ASSAY_BROKEN, "fork: %s", strerror(errno));
    if (child == 0)
        become(&command, ends[1]);
    close(ends[1]);
    reader.fd = ends[0];
    listen_to(&reader, result, start, start + limit * 1e3, last);
    if (reader.fd >= 0)
        close(reader.fd);
    result->status = collect(child, reader.fd >= 0);
    for (size_t i = 0; i < command.n; i++)
        free(command.words[i]);
}
