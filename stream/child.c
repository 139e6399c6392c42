/* child.c - fork, exec, read, wait. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "stream/child.h"

enum { OUTPUT_MOST = 1 << 20 }; /* bytes that are kept of a child's output */

extern char **environ;

static void add_bytes(struct words *words, const char *text, size_t length)
{
    char **grown, *word;

    if (words->failed)
        return;
    grown = realloc(words->word, (words->n + 2) * sizeof(*grown));
    word = grown ? malloc(length + 1) : NULL;
    if (grown)
        words->word = grown;
    if (!word) {
        words_free(words);
        words->failed = true;
        return;
    }
    memcpy(word, text, length);
    word[length] = '\0';
    words->word[words->n++] = word;
    words->word[words->n] = NULL;
}

void words_add(struct words *words, const char *word)
{
    add_bytes(words, word, strlen(word));
}

void words_split(struct words *words, const char *text)
{
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
        size_t length = strcspn(text, " \t\n");

        add_bytes(words, text, length);
        text += length;
    }
}

void words_free(struct words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct words){0};
}

/* In the child, where only what a signal handler may do is safe. */
static _Noreturn void become(const struct child *child, int output)
{
    char **envp = child->envp ? child->envp->word : environ;

    if (dup2(output, 1) < 0)
        _exit(127);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not outlive us */
    if (child->cpu >= 0)
        assay_pin_thread(child->cpu);
    if (child->program >= 0)
        fexecve(child->program, child->argv->word, envp);
    else
        execvp(child->argv->word[0], child->argv->word);
    _exit(127);
}

static bool has_ended(pid_t pid, int *status, int flags)
{
    pid_t ended;

    do
        ended = waitpid(pid, status, flags);
    while (ended < 0 && errno == EINTR);
    return ended == pid;
}

/* What comes from fd until the child ends, of which the first OUTPUT_MOST
 * bytes are kept. Who holds the other end and lives on, a daemon that the
 * child has left behind, is not waited for. */
static char *read_all(int fd, pid_t pid, bool *ended, int *status)
{
    char *text = malloc(OUTPUT_MOST + 1), rest[4096];
    size_t length = 0;

    while (text) {
        struct pollfd input = {.fd = fd, .events = POLLIN};
        size_t space = OUTPUT_MOST - length;
        ssize_t got;
        int ready;

        *ended = *ended || has_ended(pid, status, WNOHANG);
        ready = poll(&input, 1, *ended ? 0 : 100);
        if (*ended && (ready == 0 || space == 0))
            break;
        if (ready <= 0)
            continue;
        got = space ? read(fd, text + length, space)
                    : read(fd, rest, sizeof(rest));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += space ? (size_t)got : 0;
    }
    if (text)
        text[length] = '\0';
    return text;
}

int child_run(const struct child *child)
{
    int ends[2] = {-1, -1}, status = 0;
    bool ended = false;
    pid_t pid;

    if (!child->argv->word || (child->envp && child->envp->failed)) {
        errno = ENOMEM;
        return -1;
    }
    if (child->output && pipe(ends) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        if (child->output)
            close(ends[0]);
        become(child, child->output ? ends[1] : 2);
    }
    if (child->output) {
        close(ends[1]);
        *child->output =
            pid > 0 ? read_all(ends[0], pid, &ended, &status) : NULL;
        close(ends[0]);
    }
    if (pid < 0 || (!ended && !has_ended(pid, &status, 0)))
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
