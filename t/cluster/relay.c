/* relay.c - a slow cable: two network devices, and what goes in at one comes
 * out at the other, later.
 *
 * usage: relay A B USEC PERCENT
 *
 * A and B are made, and vanish with this program.  Each way every packet takes
 * USEC, in order, and PERCENT of them are lost; as fast as this program can
 * carry them otherwise.  For kernels that have no netem.
 */
#include "config.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4096, BYTES = 9216 };

struct packet {
    int64_t due; /* ns */
    ssize_t size;
    unsigned char bytes[BYTES];
};

/* One way: packets on the cable, a ring of SLOTS. */
struct way {
    int from, to;
    unsigned first, count;
    struct packet *ring;
};

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int make_device(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

    if (device < 0)
        die("/dev/net/tun");
    if (strlen(name) >= sizeof request.ifr_name) {
        fprintf(stderr, "relay: %s: too long a name\n", name);
        exit(2);
    }
    memcpy(request.ifr_name, name, strlen(name));
    if (ioctl(device, TUNSETIFF, &request) < 0)
        die(name);
    return device;
}

static void make_way(struct way *way, int from, int to)
{
    *way = (struct way){.from = from, .to = to};
    way->ring = calloc(SLOTS, sizeof *way->ring);
    if (way->ring == NULL)
        die("packets");
}

/* Hand out what has arrived.  Returns when the next one will, or -1. */
static int64_t deliver(struct way *way)
{
    while (way->count > 0) {
        struct packet *packet = &way->ring[way->first];

        if (packet->due > now())
            return packet->due;
        /* Nobody may be there to take it; so it is on a cable. */
        if (write(way->to, packet->bytes, (size_t)packet->size) < 0)
            packet->size = 0;
        way->first = (way->first + 1) % SLOTS;
        way->count--;
    }
    return -1;
}

/* Take in what was sent; a full cable loses it. */
static void accept_packets(struct way *way, int64_t delay, double loss)
{
    static struct packet lost;

    for (int turn = 0; turn < 64; turn++) {
        int full = way->count == SLOTS;
        struct packet *packet =
            full ? &lost : &way->ring[(way->first + way->count) % SLOTS];

        packet->size = read(way->from, packet->bytes, BYTES);
        if (packet->size <= 0)
            return;
        packet->due = now() + delay;
        if (!full && !(drand48() < loss))
            way->count++;
    }
}

static int64_t sooner(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

static void carry(struct way *ways, int64_t delay, double loss)
{
    struct pollfd polls[2] = {{.fd = ways[0].from, .events = POLLIN},
                              {.fd = ways[1].from, .events = POLLIN}};

    for (;;) {
        int64_t next = sooner(deliver(&ways[0]), deliver(&ways[1]));
        int64_t left = next < 0 ? 0 : next - now();
        struct timespec wait = {.tv_nsec = 0};

        if (left > 0) {
            wait.tv_sec = left / 1000000000;
            wait.tv_nsec = left % 1000000000;
        }
        if (ppoll(polls, 2, next < 0 ? NULL : &wait, NULL) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (polls[i].revents & POLLIN)
                accept_packets(&ways[i], delay, loss);
    }
}

int main(int argc, char **argv)
{
    struct way ways[2];

    if (argc != 5) {
        fputs("usage: relay A B USEC PERCENT\n", stderr);
        return 2;
    }
    int a = make_device(argv[1]);
    int b = make_device(argv[2]);
    make_way(&ways[0], a, b);
    make_way(&ways[1], b, a);
    carry(ways, (int64_t)(strtod(argv[3], NULL) * 1000),
          strtod(argv[4], NULL) / 100);
    return 0;
}
