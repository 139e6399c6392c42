/* msgrate.c - what of msgrate needs no MPI: messages, the walk, the rates. */
#include "config.h"

#include <string.h>

#include "smb/msgrate_cache.h"
#include "smb/msgrate_message.h"
#include "smb/msgrate_rate.h"
#include "smb/msgrate_text.h"
#include "t/unit/tap.h"

/* Is a message of so many bytes taken for right by whom it is not for? */
static uint64_t count_taken(const struct message *sent, size_t bytes)
{
    unsigned char buf[4100];
    struct message other[5];
    uint64_t taken = 0;

    for (size_t i = 0; i < 5; i++)
        other[i] = *sent;
    other[0].from++;
    other[1].to++;
    other[2].slot++;
    other[3].index++;
    other[4].iteration++;
    message_fill(buf + 1, bytes, message_word(sent));
    for (size_t i = 0; i < 5; i++)
        taken += message_right(buf + 1, bytes, message_word(&other[i]));
    return taken;
}

/* Bytes of a message of which a change of any one bit shows. */
static size_t count_guarded(const struct message *sent, size_t bytes)
{
    unsigned char buf[4100];
    size_t guarded = 0;

    message_fill(buf, bytes, message_word(sent));
    for (size_t i = 0; i < bytes; i++) {
        buf[i] ^= (unsigned char)(1u << i % 8);
        guarded += !message_right(buf, bytes, message_word(sent));
        buf[i] ^= (unsigned char)(1u << i % 8);
    }
    return guarded;
}

static void test_messages(void)
{
    static const size_t sizes[] = {1, 7, 8, 9, 1000, 1024, 4099};
    const struct message m = {3, 5, 2, 77, 4096};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char buf[4100];
        size_t n = sizes[i];

        memset(buf, 0xee, sizeof(buf));
        message_fill(buf, n, message_word(&m));
        ok(message_right(buf, n, message_word(&m)), "%zu bytes are right", n);
        ok(buf[n] == 0xee, "... and no more is written");
        is_count(count_guarded(&m, n), n, "... a bit of any byte shows");
        if (n > 1)
            is_count(count_taken(&m, n), 0, "... and whose it is");
    }
    ok(message_right(NULL, 0, message_word(&m)), "an empty message is right");
}

/* One byte has no room for more than the iteration; old ones show. */
static void test_stale(void)
{
    struct message m = {3, 5, 2, 77, 0};
    uint64_t stale = 0;
    unsigned char byte;

    message_fill(&byte, 1, message_word(&m));
    for (m.iteration = 1; m.iteration < 256; m.iteration++)
        stale += message_right(&byte, 1, message_word(&m));
    is_count(stale, 0, "a byte of the last 255 iterations is not this one's");
}

static void test_walk(void)
{
    uint32_t words[1000];

    memset(words, 0xff, sizeof(words));
    cache_walk(words, 1000, 7);
    ok(cache_walked(words, 1000, 7), "the walk writes every word");
    ok(!cache_walked(words, 1000, 8), "... that of another seed is another");
    words[999]++;
    ok(!cache_walked(words, 1000, 7), "... and one that is left out shows");
    cache_walk(words, 0, 7);
    ok(cache_walked(words, 0, 7), "no words are a walk too");
}

/* Two batches, of 100 and of 50 iterations, of four ranks on two nodes. */
static const double seconds[8] = {1, 0.5, 1, 0.5, 3, 1.5, 3, 1.5};
static const uint64_t iterations[2] = {100, 50};
static const bool all[4] = {true, true, true, true};
static const bool but_last[4] = {true, true, true, false};

static void test_rates(void)
{
    static const size_t second[2] = {2, 3}, last[1] = {3};
    struct times t = {4, 2, seconds, iterations, all, 12};
    double samples[2];
    struct rate rate = rate_of(&t, NULL, 4, samples);

    /* 150 x 12 messages in (1.5 + 1.5 + 4.5 + 4.5) / 4 s */
    is_double(rate.each, 600, "count / (sum of times / ranks)");
    is_double(rate.sum, 2400, "... that of all ranks");
    is_double(samples[0], 600, "... of the first batch");
    is_double(samples[1], 600, "... of the second, which is shorter");
    rate = rate_of(&t, second, 2, samples);
    is_double(rate.each, 400, "one node's ranks alone");
    is_double(rate.sum, 800, "... both together");
    is_double(iteration_time(&t), 0.02, "mean time of an iteration");
    t.active = but_last;
    rate = rate_of(&t, NULL, 4, samples);
    is_double(rate.each, 1800 / 2.5, "an idle rank does not count");
    is_count(rate.ranks, 3, "... among the ranks");
    rate = rate_of(&t, last, 1, samples);
    is_count(rate.ranks, 0, "... and alone has no rate");
    is_double(rate.each, 0, "... which is then 0");
}

static void test_counts(void)
{
    static const double hour = 3600;
    static const uint64_t many = UINT64_C(1) << 40;
    const struct times t = {1, 1, &hour, &many, all, UINT64_C(1) << 24};
    double sample;

    is_double(rate_of(&t, NULL, 1, &sample).each, 0x1p64 / 3600,
              "2^64 messages in an hour");
}

static void test_clock(void)
{
    static const double stopped[2] = {0, 0.5};
    static const double backwards[2] = {0.5, -0.5};
    struct times t = {1, 2, stopped, iterations, all, 12};
    double samples[2];

    ok(!rate_of(&t, NULL, 1, samples).timed, "no rate where the clock stood");
    t.seconds = backwards;
    ok(!rate_of(&t, NULL, 1, samples).timed, "... nor where it ran back");
    t.active = (const bool[]){false};
    is_double(iteration_time(&t), 0, "nobody took part: no time");
}

static void test_until(void)
{
    static const double even[8] = {100, 100.1, 99.9, 100,
                                   100, 100.2, 99.8, 100};
    static const double wide[8] = {100, 110, 90, 100, 105, 95, 100, 120};

    ok(rate_narrow(even, 8, 0.01), "an interval of 0.4 %% is within 1 %%");
    ok(!rate_narrow(even, 8, 0.001), "... and not within 0.1 %%");
    ok(!rate_narrow(wide, 8, 0.01), "one of 20 %% is not");
    ok(!rate_narrow(even, 5, 0.5), "five samples have no interval at 95 %%");
    ok(!rate_narrow(even, 0, 0.5), "... nor have none");
}

static void test_slowest(void)
{
    static const double rates[4] = {5, 3, 4, 3};

    is_count(slowest(rates, 4), 1, "the first of the slowest");
    is_count(slowest(rates, 1), 0, "... of one");
}

static void test_cache_text(void)
{
    static const char *const bad[] = {
        "", "3", "llc ", "LLC", "8388608x", "-4", "1e6", "0", "9999999T"};
    uint64_t bytes = 7;

    ok(parse_cache("8388608", &bytes) == 0 && bytes == 8388608, "-c 8388608");
    ok(parse_cache("8M", &bytes) == 0 && bytes == 8388608, "-c 8M");
    ok(parse_cache("llc", &bytes) == 0 && bytes == 0, "-c llc");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(parse_cache(bad[i], &bytes) < 0, "-c '%s' is refused", bad[i]);
}

static void test_until_text(void)
{
    static const char *const bad[] = {"",     "%",    "1",   "0%",   "-1%",
                                      "101%", "nan%", "1%%", "1 % ", "0x1%"};
    double fraction = 0;

    ok(parse_until("1%", &fraction) == 0, "--until=1%%");
    is_double(fraction, 0.01, "... is 0.01");
    ok(parse_until("0.5%", &fraction) == 0 &&
           parse_until("100%", &fraction) == 0,
       "--until=0.5%% and 100%%");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(parse_until(bad[i], &fraction) < 0, "--until='%s' is refused",
           bad[i]);
}

static void test_sizes_text(void)
{
    static const char *const bad[] = {"",    ",",       "8,",  ",8",  "8,,9",
                                      "8,8", "1K,1024", "8 9", "8,x", "8,2G"};
    uint64_t sizes[SIZES];
    char many[400] = "0";
    size_t n = 0;

    ok(parse_sizes("8,1K,0", sizes, &n) == 0 && n == 3 && sizes[0] == 8 &&
           sizes[1] == 1024 && sizes[2] == 0,
       "--sizes=8,1K,0");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(parse_sizes(bad[i], sizes, &n) < 0, "--sizes='%s' is refused",
           bad[i]);
    for (int i = 1; i < SIZES; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), ",%d", i);
    ok(parse_sizes(many, sizes, &n) == 0 && n == SIZES, "%d sizes", SIZES);
    strcat(many, ",100");
    ok(parse_sizes(many, sizes, &n) < 0, "... are the most");
}

int main(void)
{
    test_cache_text();
    test_until_text();
    test_sizes_text();
    test_messages();
    test_stale();
    test_walk();
    test_rates();
    test_counts();
    test_clock();
    test_until();
    test_slowest();
    return done_testing();
}
