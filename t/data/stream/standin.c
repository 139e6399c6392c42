/* standin.c - stands in for a user's stream.c: the four loops as a textbook
 * has them, and the lines of the 5.10 layout that a script reads. It takes the
 * same -DSTREAM_ARRAY_SIZE, -DNTIMES and -DSTREAM_TYPE. */
#include <math.h>
#include <stdio.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifndef STREAM_ARRAY_SIZE
#define STREAM_ARRAY_SIZE 10000000
#endif
#ifndef NTIMES
#define NTIMES 10
#endif
#ifndef STREAM_TYPE
#define STREAM_TYPE double
#endif

#define N ((long)STREAM_ARRAY_SIZE)

static STREAM_TYPE a[N], b[N], c[N];
static const STREAM_TYPE s = (STREAM_TYPE)0.4142135623730951;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy(void)
{
#pragma omp parallel for
    for (long i = 0; i < N; i++)
        c[i] = a[i];
}

static void scale(void)
{
#pragma omp parallel for
    for (long i = 0; i < N; i++)
        b[i] = s * c[i];
}

static void add(void)
{
#pragma omp parallel for
    for (long i = 0; i < N; i++)
        c[i] = a[i] + b[i];
}

static void triad(void)
{
#pragma omp parallel for
    for (long i = 0; i < N; i++)
        a[i] = b[i] + s * c[i];
}

struct loop {
    const char *label;
    void (*run)(void);
    int words;
    double least, most, sum;
};

static void time_loops(struct loop *loops)
{
    for (int k = 0; k < NTIMES; k++)
        for (int i = 0; i < 4; i++) {
            double start = now(), time;

            loops[i].run();
            time = now() - start;
            if (k == 0)
                continue;
            if (k == 1 || time < loops[i].least)
                loops[i].least = time;
            if (time > loops[i].most)
                loops[i].most = time;
            loops[i].sum += time;
        }
}

static void validate(void)
{
    double x = 1.0, y, z, error = 0.0;

    for (int k = 0; k < NTIMES; k++) {
        z = x;
        y = (double)s * z;
        z = x + y;
        x = y + (double)s * z;
    }
    for (long i = 0; i < N; i++)
        error += fabs((double)a[i] - x) / x;
    if (error / (double)N <= (sizeof(STREAM_TYPE) == 4 ? 1e-4 : 1e-13))
        printf("Solution Validates: avg error less than 1.000000e-13 on all "
               "three arrays\n");
    else
        printf("Failed Validation on array a[]\n");
}

int main(void)
{
    struct loop loops[4] = {{"Copy:", copy, 2, 0, 0, 0},
                            {"Scale:", scale, 2, 0, 0, 0},
                            {"Add:", add, 3, 0, 0, 0},
                            {"Triad:", triad, 3, 0, 0, 0}};

    printf("Array size = %ld (elements), Offset = 0 (elements)\n", N);
#ifdef _OPENMP
#pragma omp parallel
#pragma omp master
    printf("Number of Threads counted = %d\n", omp_get_num_threads());
#endif
#pragma omp parallel for
    for (long i = 0; i < N; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
    time_loops(loops);
    printf("Function    Best Rate MB/s  Avg time     Min time     Max time\n");
    for (int i = 0; i < 4; i++)
        printf("%-11s%12.1f  %11.6f  %11.6f  %11.6f\n", loops[i].label,
               1e-6 * loops[i].words * (double)sizeof(STREAM_TYPE) * (double)N /
                   loops[i].least,
               loops[i].sum / (NTIMES - 1), loops[i].least, loops[i].most);
    validate();
    return 0;
}
