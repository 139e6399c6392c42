/* plot.c - gnuplot gets its script on stdin, and writes to stdout, which for
 * SVG is the file: no shell, and no name within the script. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stream/plot.h"

/* The script in a file that has no name, at its beginning; NULL with errno. */
static FILE *write_script(const struct curve *curve, const char *terminal)
{
    size_t most = curve->threads[curve->n - 1];
    FILE *script = tmpfile();

    if (!script)
        return NULL;
    fprintf(script,
            "set terminal %s\n"
            "set title 'Bandwidth Scaling'\n"
            "set xlabel '# threads'\n"
            "set ylabel 'MB/s'\n"
            "set xrange [0.5:%zu.5]\n"
            "set xtics %zu\n"
            "set yrange [0:*]\n"
            "unset key\n"
            "plot '-' with linespoints\n",
            terminal, most, (most + 15) / 16);
    for (size_t i = 0; i < curve->n; i++)
        fprintf(script, "%zu %.1f\n", curve->threads[i], curve->rate[i]);
    fprintf(script, "e\n");
    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        fclose(script);
        return NULL;
    }
    return script;
}

enum { SECONDS_MOST = 30 };

/* Wait for gnuplot, which may wait for something itself: not for ever. */
static int wait_for(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    int status = 0;

    for (int i = 0; waitpid(pid, &status, WNOHANG) != pid; i++) {
        if (i == SECONDS_MOST * 50)
            kill(pid, SIGKILL);
        nanosleep(&pause, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Run gnuplot on the script; returns its exit status, 127 if there is none,
 * or -1. */
static int run_gnuplot(int script, int output)
{
    pid_t pid = fork();

    if (pid < 0)
        return -1;
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(script, 0) == 0 && dup2(output, 1) == 1)
            execlp("gnuplot", "gnuplot", "-d", (char *)NULL);
        _exit(127);
    }
    return wait_for(pid);
}

/* Is the SVG whole? gnuplot does not notice a full disk. */
static bool is_whole(const char *svg)
{
    char tail[16] = "";
    struct stat st;
    int fd = open(svg, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool whole =
        fd >= 0 && fstat(fd, &st) == 0 &&
        (!S_ISREG(st.st_mode) ||
         (st.st_size >= 15 && pread(fd, tail, 15, st.st_size - 15) == 15 &&
          strstr(tail, "</svg>")));

    if (fd >= 0)
        close(fd);
    return whole;
}

int stream_plot(const struct curve *curve, const char *svg, char *why,
                size_t size)
{
    FILE *script = write_script(curve, svg ? "svg size 800,480 dynamic "
                                             "background rgb 'white'"
                                           : "dumb size 72,22");
    int output = 1, status;

    if (svg)
        output = open(svg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!script || output < 0) {
        snprintf(why, size, "%s: %s", svg ? svg : "plot", strerror(errno));
        if (script)
            fclose(script);
        return -1;
    }
    fflush(stdout);
    status = run_gnuplot(fileno(script), output);
    fclose(script);
    if (svg && close(output) < 0)
        status = -1;
    if (status == 127)
        snprintf(why, size, "no plot: gnuplot is not on the path");
    else if (status == 0 && svg && !is_whole(svg))
        snprintf(why, size, "%s: cut short (a full disk?)", svg);
    else if (status != 0)
        snprintf(why, size, "no plot: gnuplot failed, or took %d s",
                 SECONDS_MOST);
    else
        return 0;
    return -1;
}
