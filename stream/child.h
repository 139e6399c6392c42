/* child.h - other programs, run without a shell. */
#ifndef STREAM_CHILD_H
#define STREAM_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* A list of words for exec, which owns its words; {0} is empty. A failed
 * allocation empties it, and child_run then fails. */
struct words {
    char **word; /* NULL-terminated, or NULL */
    size_t n;
    bool failed; /* no more words are taken */
};

void words_add(struct words *words, const char *word);
void words_split(struct words *words, const char *text); /* at blanks */
void words_free(struct words *words);

/* How a child is run. */
struct child {
    const struct words *argv;
    int program;              /* descriptor of the file to run, or -1: argv[0]
                                 is looked for on the path */
    const struct words *envp; /* NULL: this program's */
    int cpu;                  /* bind it there, or -1 */
    char **output;            /* gets its stdout, NUL-terminated, which the
                                 caller frees; NULL: its stdout is our stderr */
};

/* Run to the end. Returns the exit status, 128 + signal, 127 where the program
 * could not be run; or -1 with errno. */
int child_run(const struct child *child);

#endif
