/* hog.c - keep memory busy while a program of a given name runs.
 *
 * usage: hog NAME...
 *
 * Looks at the processes that it can see, which on a node of the cluster are
 * the node's.  While one of them bears a NAME, two processes a CPU write through
 * 64 MiB each again and again; else they sleep.  Ends with SIGTERM.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 << 20, CHUNK = 1 << 20 };

static void rest(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Write while *BUSY, in chunks, so that it is soon seen to be no more. */
static void write_memory(volatile int *busy)
{
    char *memory = malloc(BYTES);

    if (memory == NULL)
        exit(99);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t at = 0;; at = (at + CHUNK) % BYTES) {
        if (!*busy)
            rest(5);
        else
            memset(memory + at, (int)(at / CHUNK), CHUNK);
    }
}

/* The name of a process into NAME, as its main thread bears it. */
static int process_name(const char *process, char *name, int size)
{
    char path[300];

    snprintf(path, sizeof path, "/proc/%s/comm", process);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    char *line = fgets(name, size, file);
    fclose(file);
    if (line == NULL)
        return 0;
    name[strcspn(name, "\n")] = '\0';
    return 1;
}

/* Whether a process of one of NAMES lives. */
static int lives(char **names)
{
    DIR *all = opendir("/proc");
    struct dirent *entry;
    char name[64];
    int found = 0;

    if (all == NULL)
        exit(99);
    while (!found && (entry = readdir(all)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !process_name(entry->d_name, name, sizeof name))
            continue;
        for (char **wanted = names; *wanted != NULL; wanted++)
            found |= strcmp(name, *wanted) == 0;
    }
    closedir(all);
    return found;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: hog NAME...\n", stderr);
        return 2;
    }
    volatile int *busy = mmap(NULL, sizeof *busy, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (busy == MAP_FAILED) {
        perror("hog");
        return 99;
    }
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < 2 * cpus; i++)
        if (fork() == 0)
            write_memory(busy);
    for (;;) {
        *busy = lives(argv + 1);
        rest(20);
    }
}
