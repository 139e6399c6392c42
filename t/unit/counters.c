/* counters.c - interfaces of a machine that is made up. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "commbw/counters.h"
#include "t/unit/tap.h"
#include "t/unit/tree.h"

/* /proc/net/dev, in which "rail0" has sent so many bytes, and the bond above it
 * as many. */
static void put_dev(const char *root, unsigned rail0, unsigned rail1)
{
    char text[2048];

    snprintf(
        text, sizeof(text),
        "Inter-|   Receive                                                "
        "|  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast"
        "|bytes    packets errs drop fifo colls carrier compressed\n"
        "    lo:    9000      9    0    0    0     0          0         0 "
        "    9000       9    0    0    0     0       0          0\n"
        " rail0:      70      1    0    0    0     0          0         0 "
        "%u       1    0    0    0     0       0          0\n"
        "rail1:4294967399      1    0    0    0     0          0         0 "
        "%u       1    0    0    0     0       0          0\n"
        " bond0:     140      2    0    0    0     0          0         0 "
        "%u       2    0    0    0     0       0          0\n",
        rail0, rail1, rail0 + rail1);
    tree_put(root, "/proc/net/dev", text);
}

static void put_port(const char *root, const char *words)
{
    tree_put(root,
             "/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data",
             "7\n");
    tree_put(root,
             "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data",
             words);
}

static void link_to(const char *root, const char *path, const char *target)
{
    char full[2 * PATH_MAX];

    snprintf(full, sizeof(full), "%s%s", root, path);
    if (symlink(target, full) != 0)
        perror(full);
}

static const struct counter *find(const struct counters *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->counter[i].name, name) == 0)
            return &c->counter[i];
    return NULL;
}

static void check_read(const char *root, struct counters *c)
{
    const struct counter *port, *rail;

    counters_read(c, root);
    port = find(c, "mlx5_0:1");
    rail = find(c, "rail1");
    ok(c->n == 5, "four interfaces and a port");
    ok(rail && rail->received == 4294967399u, "bytes beyond 2^32");
    ok(port && port->received == 28, "a port counts words of four bytes");
    ok(find(c, "lo") && find(c, "lo")->loopback, "lo is a loopback");
    ok(find(c, "bond0") && find(c, "bond0")->stacked, "a bond is stacked");
    ok(rail && !rail->stacked && !rail->loopback, "a rail is neither");
    ok(rail && port && strcmp(rail->device, port->device) == 0,
       "rail1 and the port are of one card");
}

static void check_carriers(const char *root, const struct counters *before)
{
    struct counters c;
    size_t carrier[COUNTERS], n;

    put_dev(root, 1000000, 100);
    put_port(root, "1000000\n");
    counters_read(&c, root);
    counters_subtract(&c, before);
    ok(find(&c, "rail0")->sent == 999900, "what was sent meanwhile");
    n = counters_carriers(&c, 500000, carrier);
    ok(n == 2, "a rail and a port carried, and no bond");
    n = counters_carriers(&c, 3000000, carrier);
    ok(n == 1 && strcmp(c.counter[carrier[0]].name, "mlx5_0:1") == 0,
       "the port alone carried so much");
    put_dev(root, 1000000, 1000000);
    counters_read(&c, root);
    counters_subtract(&c, before);
    n = counters_carriers(&c, 500000, carrier);
    ok(n == 2, "the port's own interface is not counted twice");
    put_dev(root, 10, 10);
    counters_read(&c, root);
    counters_subtract(&c, before);
    ok(find(&c, "rail0")->sent == 0, "what ran backwards carried nothing");
    c.n = 0;
    ok(counters_carriers(&c, 1, carrier) == 0, "nothing carries nothing");
}

int main(void)
{
    char root[PATH_MAX];
    struct counters before;

    tree_new(root);
    put_dev(root, 100, 100);
    put_port(root, "100\n");
    tree_put(root, "/sys/class/net/bond0/lower_rail0/x", "");
    tree_put(root, "/sys/devices/0000:81:00.0/vendor", "");
    tree_put(root, "/sys/class/net/rail1/mtu", "");
    link_to(root, "/sys/class/net/rail1/device",
            "../../../devices/0000:81:00.0");
    link_to(root, "/sys/class/infiniband/mlx5_0/device",
            "../../../devices/0000:81:00.0");
    check_read(root, &before);
    check_carriers(root, &before);
    tree_free(root);
    return done_testing();
}
