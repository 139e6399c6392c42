/* run.c - one run of a program: from argv to the exit status. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/finite.h"
#include "lib/provenance.h"
#include "lib/run.h"
#include "lib/stats.h"
#include "lib/units.h"

enum { REASON = 512 };

struct standard {
    const char *record;
    bool quiet;
};

struct assay_run {
    const struct assay_program *program;
    struct assay_member *member; /* NULL where the process is alone */
    void *options;
    struct standard standard;
    struct assay_record *record; /* NULL without --record */
    struct assay_topology machine;
    bool has_opt, is_wrong, is_unstable;
    char wrong[REASON], unstable[REASON]; /* the first reason of each */
};

#define OPT(field) offsetof(struct standard, field)
static const struct assay_option standard_table[] = {
    {.name = "record",
     .type = ASSAY_TEXT,
     .offset = OPT(record),
     .arg = "FILE",
     .help = "write the record to FILE, which must not exist",
     .unset = "none"},
    {.name = "quiet",
     .type = ASSAY_FLAG,
     .offset = OPT(quiet),
     .help = "print nothing on standard output"},
    {.letter = 'h',
     .name = "help",
     .type = ASSAY_HELP,
     .help = "print this text and exit"},
    {.letter = 'V',
     .name = "version",
     .type = ASSAY_VERSION,
     .help = "print the version and exit"},
    ASSAY_OPTION_END,
};

/*
 * Signals. A mutable global: a handler can reach nothing else. It holds the
 * descriptor of a record that has no end line yet; who takes it out writes the
 * end line, so that there is never a second one.
 */
enum { ENDED = -1, NO_RECORD = -2 };
static atomic_int unended = ENDED;

static const struct ending {
    int number;
    const char *line;
} endings[] = {
    {SIGTERM, "end status=timeout reason=SIGTERM\n"},
    {SIGXCPU, "end status=timeout reason=SIGXCPU\n"},
    {SIGALRM, "end status=timeout reason=SIGALRM\n"},
    {SIGINT, "end status=failed reason=SIGINT\n"},
    {SIGHUP, "end status=failed reason=SIGHUP\n"},
    {SIGQUIT, "end status=failed reason=SIGQUIT\n"},
    {SIGPIPE, "end status=failed reason=SIGPIPE\n"},
};

#define ENDINGS (sizeof(endings) / sizeof(endings[0]))

/* What the alarm says while assay_watch waits for something; like unended a
 * global since a handler reaches nothing else, and changed only while no alarm
 * is set. So is what a job knows of the signal that ends it, which is set
 * before handlers are. */
static struct {
    char message[REASON + 64], end[REASON + 64];
} watch;
static const char *(*last_line)(int number);

/* A line that can't be written is not there, which says enough. */
static void put_line(int fd, const char *line)
{
    size_t length = strlen(line);

    if (write(fd, line, length) != (ssize_t)length)
        return;
}

/* The end line of a record that the signal ends. */
static const char *end_line(int number, bool watched)
{
    const char *line = watched     ? watch.end
                       : last_line ? last_line(number)
                                   : NULL;

    for (size_t i = 0; i < ENDINGS && !line; i++)
        if (endings[i].number == number)
            line = endings[i].line;
    return line;
}

/* Write the end line, and die of the signal, so that the caller sees the
 * truth. The first process of a container does not die of it: it exits. */
static void on_signal(int number)
{
    int fd = atomic_exchange(&unended, ENDED);
    bool watched = number == SIGALRM && watch.end[0];
    sigset_t only;

    if (watched)
        put_line(STDERR_FILENO, watch.message);
    if (fd >= 0)
        put_line(fd, end_line(number, watched));
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    _exit(128 + number);
}

static void on_file_size(int number)
{
    (void)number; /* the write fails with EFBIG, and says so */
}

/* Unless somebody else minds the signal. */
static void signal_catch(int number)
{
    struct sigaction action = {.sa_handler = on_signal}, before;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

static void signals_catch(struct assay_record *record)
{
    atomic_store(&unended, assay_record_fd(record));
    for (size_t i = 0; i < ENDINGS; i++)
        signal_catch(endings[i].number);
}

/* May this thread write the end line? If a handler has begun to, the process
 * is about to die of its signal: wait for that. */
static void signals_claim(void)
{
    if (atomic_exchange(&unended, ENDED) < 0)
        for (;;)
            pause();
}

/* Not we have called exit but a library (libgomp does, with status 1, where it
 * gets no thread): that is no verdict on the data. */
static void on_exit_of_others(void)
{
    static const char end[] =
        "end status=failed reason=\"a library ended the program\"\n";
    int fd = atomic_exchange(&unended, ENDED);

    if (fd == ENDED)
        return;
    fflush(stdout);
    fprintf(stderr, "%s: a library ended the program\n",
            program_invocation_short_name);
    if (fd >= 0 && write(fd, end, sizeof(end) - 1) < 0)
        fprintf(stderr, "%s: record: %s\n", program_invocation_short_name,
                strerror(errno));
    _exit(ASSAY_BROKEN);
}

/*
 * Messages: one line on stderr, whatever the words hold.
 */
__attribute__((format(printf, 2, 0))) static void
format_line(char *text, const char *format, va_list ap)
{
    vsnprintf(text, REASON, format, ap);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

static const char *name_of(const struct assay_run *run)
{
    return run ? run->program->name : program_invocation_short_name;
}

/* "rank 3 on n007: ", or nothing. */
static const char *place_of(const struct assay_run *run, char *buf, size_t size)
{
    if (run && run->member && run->member->place)
        snprintf(buf, size, "%s: ", run->member->place);
    else
        buf[0] = '\0';
    return buf;
}

static void complain(const struct assay_run *run, const char *text)
{
    char place[REASON];

    fflush(stdout);
    fprintf(stderr, "%s: %s%s\n", name_of(run),
            place_of(run, place, sizeof(place)), text);
}

static bool speaks(const struct assay_run *run)
{
    return !run->member || run->member->speaks;
}

/*
 * The end.
 */
static const char *status_word(int status)
{
    switch (status) {
    case ASSAY_OK:
        return "ok";
    case ASSAY_WRONG:
        return "wrong";
    case ASSAY_UNSTABLE:
        return "unstable";
    case ASSAY_NOTRUN:
        return "notrun";
    default:
        return "failed";
    }
}

/* Close stdout; false where anything printed on it was lost. */
static bool stdout_close(char *reason)
{
    bool lost = ferror(stdout) != 0;

    errno = 0;
    if (fclose(stdout) == 0 && !lost)
        return true;
    snprintf(reason, REASON, "standard output: %s",
             errno ? strerror(errno) : "could not be written");
    return false;
}

static const char *record_fault(int error)
{
    switch (error) {
    case EDOM:
        return "a number that is not finite";
    case EINVAL:
        return "a key that is no key, or no value";
    case EEXIST:
        return "a key that stands twice on a line";
    case EMSGSIZE:
        return "a line of more than 8 MiB";
    default:
        return strerror(error);
    }
}

static void record_reason(const struct assay_run *run, int error, char *reason)
{
    snprintf(reason, REASON, "%s: %s", run->standard.record,
             record_fault(error));
}

/* The second env line, on the load, and the end line. */
static int end_write(struct assay_run *run, int status, const char *reason)
{
    struct assay_fields load = {0}, end = {0};
    int result, error;

    assay_load(&load, "after_");
    assay_fields_text(&end, "status", status_word(status));
    if (status != ASSAY_OK)
        assay_fields_text(&end, "reason", reason);
    result = load.length || load.error
                 ? assay_record_append(run->record, "env", &load)
                 : 0;
    if (result == 0) {
        signals_claim();
        result = assay_record_append(run->record, "end", &end);
    }
    error = errno;
    assay_fields_free(&load);
    assay_fields_free(&end);
    errno = error;
    return result;
}

static int record_finish(struct assay_run *run, int status, const char *reason)
{
    struct assay_record *record = run->record;
    int result = end_write(run, status, reason), error = errno;

    run->record = NULL;
    atomic_store(&unended, ENDED);
    if (assay_record_close(record) < 0 && result == 0) {
        result = -1;
        error = errno;
    }
    errno = error;
    return result;
}

static void run_free(struct assay_run *run)
{
    assay_topology_free(&run->machine);
    free(run);
}

/* Nothing is printed after stdout was closed, and nothing measured after the
 * end line, so the end line can tell what became of both. */
static int conclude(struct assay_run *run, int status, const char *reason)
{
    char lost[REASON];

    if (!stdout_close(lost)) {
        fprintf(stderr, "%s: %s\n", name_of(run), lost);
        status = ASSAY_BROKEN;
        reason = lost;
    }
    if (run && run->record && record_finish(run, status, reason) < 0) {
        record_reason(run, errno, lost);
        fprintf(stderr, "%s: %s\n", name_of(run), lost);
        status = ASSAY_BROKEN;
    }
    atomic_store(&unended, ENDED);
    if (run)
        run_free(run);
    return status;
}

void assay_die(struct assay_run *run, enum assay_exit status,
               const char *format, ...)
{
    struct assay_member *member = run ? run->member : NULL;
    char reason[REASON];
    int result;
    va_list ap;

    va_start(ap, format);
    format_line(reason, format, ap);
    va_end(ap);
    complain(run, reason);
    result = conclude(run, status, reason);
    if (member && member->leave)
        member->leave(member, result);
    exit(result);
}

void *assay_room(struct assay_run *run, size_t n, size_t size, const char *what)
{
    void *p = calloc(n ? n : 1, size);

    if (!p)
        assay_die(run, ASSAY_BROKEN, "no memory for %s", what);
    return p;
}

/* A record that can't be written gets no end line, so it is let go first. */
_Noreturn static void die_record(struct assay_run *run, int error)
{
    char reason[REASON];

    record_reason(run, error, reason);
    atomic_store(&unended, ENDED);
    assay_record_close(run->record);
    run->record = NULL;
    assay_die(run, ASSAY_BROKEN, "%s", reason);
}

/* Append a line and free its fields, which are checked even where there is no
 * record: a program is as broken without one. */
void assay_line(struct assay_run *run, const char *kind,
                struct assay_fields *fields)
{
    int error = fields->error;

    if (error) {
        assay_fields_free(fields);
        assay_die(run, ASSAY_BROKEN, "%s line: %s", kind, record_fault(error));
    }
    if (run->record && assay_record_append(run->record, kind, fields) < 0)
        die_record(run, errno);
    assay_fields_free(fields);
}

/*
 * The start.
 */

/* Descriptors 0 to 2 exist from here on, so that a record never becomes one of
 * them; those that were closed are opened the wrong way round, so that their
 * use fails as it would have. */
static void hold_descriptors(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", flags[fd]) != fd)
            exit(ASSAY_BROKEN);
}

static void print_help(const struct assay_run *run,
                       const struct assay_option_group *groups, size_t n)
{
    printf("usage: %s [OPTION]...\n\n%s\n\n", run->program->name,
           run->program->summary);
    assay_options_help(stdout, groups, n);
    if (run->program->notes)
        printf("\n%s\n", run->program->notes);
}

static void parse(struct assay_run *run, int argc, char **argv)
{
    static const struct assay_option none[] = {ASSAY_OPTION_END};
    const struct assay_member *member = run->member;
    bool has_more = member && member->table;
    const struct assay_option_group groups[] = {
        {run->program->table, run->options},
        {has_more ? member->table : none, has_more ? member->options : NULL},
        {standard_table, &run->standard},
    };
    char error[REASON];
    int status =
        assay_options_parse(argc, argv, groups, 3, error, sizeof(error));

    if (status == 0)
        return;
    if (!speaks(run)) {
        /* The launcher may end all when the first of them ends badly. */
        if (status < 0)
            sleep(ASSAY_SPEECH);
        exit(conclude(run, status < 0 ? ASSAY_USAGE : ASSAY_OK, NULL));
    }
    if (status < 0)
        assay_die(run, ASSAY_USAGE, "%s", error);
    if (status == ASSAY_HELP)
        print_help(run, groups, 3);
    else
        printf("%s (assay) %s\n", run->program->name, PACKAGE_VERSION);
    exit(conclude(run, ASSAY_OK, NULL));
}

static void record_open(struct assay_run *run)
{
    struct assay_fields f = {0};
    const char *path = run->standard.record;
    char utc[21];

    if (!path || !speaks(run))
        return;
    run->record = assay_record_create(path);
    /* The command line is at fault if the file exists, else the machine. */
    if (!run->record)
        assay_die(run, errno == EEXIST ? ASSAY_USAGE : ASSAY_BROKEN,
                  "--record: %s: %s", path, strerror(errno));
    last_line = run->member ? run->member->last_line : NULL;
    signals_catch(run->record);
    assay_fields_count(&f, "version", 1);
    assay_fields_text(&f, "bench",
                      run->program->bench ? run->program->bench
                                          : run->program->name);
    assay_fields_text(&f, "program", "assay " PACKAGE_VERSION);
    assay_fields_text(&f, "time", assay_utc(utc));
    assay_line(run, "record", &f);
}

static void machine_load(struct assay_run *run)
{
    struct assay_fields env = {0};
    char error[256] = "";

    if (assay_topology_load(&run->machine, NULL, error, sizeof(error)) < 0)
        assay_die(run, ASSAY_BROKEN, "topology: %s", error);
    if (run->record) {
        assay_provenance(&env, &run->machine);
        assay_load(&env, "before_");
        assay_line(run, "env", &env);
    }
    if (!run->machine.this_machine)
        assay_warn(run, "the machine is a recorded one, not this: nothing "
                        "measured here satisfies a clause");
}

struct assay_run *assay_start_member(int argc, char **argv,
                                     const struct assay_program *program,
                                     void *options, struct assay_member *member)
{
    struct sigaction action = {.sa_handler = on_file_size};
    struct assay_run *run;

    hold_descriptors();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    sigemptyset(&action.sa_mask);
    sigaction(SIGXFSZ, &action, NULL);
    run = calloc(1, sizeof(*run));
    if (!run)
        assay_die(NULL, ASSAY_BROKEN, "%s", strerror(ENOMEM));
    run->program = program;
    run->options = options;
    run->member = member;
    parse(run, argc, argv);
    if (member && member->join)
        member->join(member, run);
    /* Where others speak, they end this process too, each in its own way. */
    if (speaks(run)) {
        atomic_store(&unended, NO_RECORD);
        atexit(on_exit_of_others);
    }
    record_open(run);
    machine_load(run);
    return run;
}

struct assay_run *assay_start(int argc, char **argv,
                              const struct assay_program *program,
                              void *options)
{
    return assay_start_member(argc, argv, program, options, NULL);
}

/* The alarm is off while its text is changed. */
void assay_watch(struct assay_run *run, double seconds, const char *what)
{
    struct itimerval timer = {{0, 0}, {0, 0}};
    struct assay_fields end = {0};
    char reason[REASON], place[REASON];

    setitimer(ITIMER_REAL, &timer, NULL);
    if (!(seconds > 0.0))
        return;
    snprintf(reason, sizeof(reason), "no progress within %g s: %.300s", seconds,
             what);
    assay_fields_text(&end, "status", "timeout");
    assay_fields_text(&end, "reason", reason);
    snprintf(watch.message, sizeof(watch.message), "%.40s: %.128s%.380s\n",
             name_of(run), place_of(run, place, sizeof(place)), reason);
    snprintf(watch.end, sizeof(watch.end), "end %s\n",
             end.error ? "status=timeout" : end.text);
    assay_fields_free(&end);
    signal_catch(SIGALRM);
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec =
        (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 999998.0) + 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

bool assay_quiet(const struct assay_run *run)
{
    return run->standard.quiet;
}

const struct assay_topology *assay_machine(const struct assay_run *run)
{
    return &run->machine;
}

/*
 * Lines.
 */
static void put_keys(const struct assay_run *run, struct assay_fields *f,
                     const struct assay_fields *keys)
{
    if (keys)
        assay_fields_append(f, keys);
    if (!run->machine.this_machine && !assay_fields_have(f, "functional"))
        assay_fields_text(f, "functional", "yes");
}

void assay_opt(struct assay_run *run, const struct assay_fields *more)
{
    struct assay_fields f = {0};

    if (run->has_opt)
        assay_die(run, ASSAY_BROKEN, "opt line: written twice");
    run->has_opt = true;
    assay_options_fields(run->program->table, run->options, &f);
    put_keys(run, &f, more);
    assay_line(run, "opt", &f);
}

static void warn_text(struct assay_run *run, const char *text)
{
    struct assay_fields f = {0};

    if (!speaks(run))
        return;
    fflush(stdout);
    fprintf(stderr, "%s: warning: %s\n", run->program->name, text);
    assay_fields_text(&f, "text", text);
    assay_line(run, "warning", &f);
}

void assay_warn(struct assay_run *run, const char *format, ...)
{
    char text[REASON];
    va_list ap;

    va_start(ap, format);
    format_line(text, format, ap);
    va_end(ap);
    warn_text(run, text);
}

/* The check line; a failed one is also said on stderr. */
static bool check_emit(struct assay_run *run, const char *name, bool ok,
                       const char *why, struct assay_fields *f,
                       const struct assay_fields *keys)
{
    if (why && *why)
        assay_fields_text(f, "reason", why);
    put_keys(run, f, keys);
    if (!ok) {
        char text[REASON];

        snprintf(text, sizeof(text), "%s: wrong data: %s", name,
                 why && *why ? why : "the check failed");
        complain(run, text);
        if (!run->is_wrong)
            memcpy(run->wrong, text, sizeof(text));
        run->is_wrong = true;
    }
    assay_line(run, "check", f);
    return ok;
}

bool assay_check(struct assay_run *run, const char *name, double error,
                 double tolerance, const struct assay_fields *keys)
{
    struct assay_fields f = {0};
    bool finite = assay_finite(&error), bounded = assay_finite(&tolerance);
    bool ok = finite && bounded && error >= 0 && error <= tolerance;
    char why[REASON], number[2][32];

    assay_fields_text(&f, "name", name);
    assay_fields_text(&f, "ok", ok ? "yes" : "no");
    if (finite)
        assay_fields_real(&f, "error", error);
    if (bounded)
        assay_fields_real(&f, "tolerance", tolerance);
    snprintf(why, sizeof(why), "error %s, tolerance %s",
             finite ? assay_real_text(error, number[0]) : "not finite",
             bounded ? assay_real_text(tolerance, number[1]) : "not finite");
    return check_emit(run, name, ok, ok ? NULL : why, &f, keys);
}

bool assay_check_fact(struct assay_run *run, const char *name, bool ok,
                      const char *why, const struct assay_fields *keys)
{
    struct assay_fields f = {0};

    assay_fields_text(&f, "name", name);
    assay_fields_text(&f, "ok", ok ? "yes" : "no");
    return check_emit(run, name, ok, why, &f, keys);
}

static void summarise(struct assay_run *run, const struct assay_metric *m,
                      struct assay_stats *s)
{
    if (!assay_unit_known(m->unit))
        assay_die(run, ASSAY_BROKEN, "metric %s: unknown unit '%s'", m->name,
                  m->unit);
    if (assay_stats(m->samples, m->n, s) == 0)
        return;
    switch (errno) {
    case EINVAL:
        assay_die(run, ASSAY_BROKEN, "metric %s: no samples", m->name);
    case EDOM:
        assay_die(run, ASSAY_BROKEN, "metric %s: a sample is not finite",
                  m->name);
    default:
        assay_die(run, ASSAY_BROKEN, "metric %s: %s", m->name, strerror(errno));
    }
}

static void sample_emit(struct assay_run *run, const struct assay_metric *m,
                        const struct assay_fields *keys)
{
    struct assay_fields f = {0};

    if (!run->record)
        return;
    assay_fields_text(&f, "name", m->name);
    assay_fields_text(&f, "unit", m->unit);
    assay_fields_reals(&f, "values", m->samples, m->n);
    put_keys(run, &f, keys);
    assay_line(run, "sample", &f);
}

void assay_metric(struct assay_run *run, const struct assay_metric *metric,
                  const struct assay_fields *keys)
{
    struct assay_fields f = {0};
    struct assay_stats s;
    double best, value;

    if (!run->has_opt)
        assay_opt(run, NULL);
    summarise(run, metric, &s);
    best = metric->lower_is_better ? s.min : s.max;
    assay_fields_text(&f, "name", metric->name);
    value = metric->value_is_median ? s.median : best;
    assay_fields_real(&f, "value", metric->value ? *metric->value : value);
    assay_fields_text(&f, "unit", metric->unit);
    assay_fields_count(&f, "n", s.n);
    assay_fields_real(&f, "best", best);
    assay_fields_real(&f, "min", s.min);
    assay_fields_real(&f, "q1", s.q1);
    assay_fields_real(&f, "median", s.median);
    assay_fields_real(&f, "q3", s.q3);
    assay_fields_real(&f, "max", s.max);
    put_keys(run, &f, keys);
    assay_line(run, "metric", &f);
    sample_emit(run, metric, keys);
}

void assay_notrun(struct assay_run *run, const char *reason,
                  const struct assay_fields *keys)
{
    struct assay_fields f = {0};
    char host[256];

    if (!keys || !assay_fields_have(keys, "host"))
        assay_fields_text(&f, "host", assay_hostname(host, sizeof(host)));
    assay_fields_text(&f, "reason", reason);
    put_keys(run, &f, keys);
    assay_line(run, "notrun", &f);
}

void assay_unstable(struct assay_run *run, const char *reason)
{
    if (!run->is_unstable)
        snprintf(run->unstable, sizeof(run->unstable), "%s", reason);
    run->is_unstable = true;
    assay_warn(run, "unstable: %s", reason);
}

enum assay_exit assay_status(const struct assay_run *run)
{
    return run->is_wrong      ? ASSAY_WRONG
           : run->is_unstable ? ASSAY_UNSTABLE
                              : ASSAY_OK;
}

int assay_finish(struct assay_run *run)
{
    char reason[REASON] = "";

    if (!run->has_opt)
        assay_opt(run, NULL);
    if (run->is_wrong) {
        snprintf(reason, sizeof(reason), "%s", run->wrong);
        return conclude(run, ASSAY_WRONG, reason);
    }
    if (run->is_unstable) {
        snprintf(reason, sizeof(reason), "%s", run->unstable);
        return conclude(run, ASSAY_UNSTABLE, reason);
    }
    return conclude(run, ASSAY_OK, reason);
}
