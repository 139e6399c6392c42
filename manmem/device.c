/* device.c - what was measured on: the devices and the driver's settings. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manmem/device.h"

const char *const manmem_xnack_words[] = {"none", "unsupported", "off", "on",
                                          "unknown"};

/* The first line of a file, or "not there", or why it can't be read. */
static char *file_line(const char *path, char *buf, size_t size)
{
    FILE *file = fopen(path, "r");

    if (!file) {
        snprintf(buf, size, errno == ENOENT ? "not there" : "unknown (%s)",
                 strerror(errno));
        return buf;
    }
    if (!fgets(buf, (int)size, file) || buf[0] == '\n')
        snprintf(buf, size, "unknown (empty)");
    buf[strcspn(buf, "\n")] = '\0';
    fclose(file);
    return buf;
}

/* The NUMA node that a device hangs at, by its bus id in lower case. */
static char *numa_node(const char *bus, char *buf, size_t size)
{
    char path[128] = "/sys/bus/pci/devices/";
    size_t n = strlen(path);

    for (const char *c = bus; *c && n < sizeof(path) - 16; c++)
        path[n++] = (char)tolower((unsigned char)*c);
    snprintf(path + n, sizeof(path) - n, "/numa_node");
    return file_line(path, buf, size);
}

static const char *switch_word(int value)
{
    return value < 0 ? "unknown" : value ? "yes" : "no";
}

static void record_device(const struct plan *plan, const struct device *d)
{
    const struct gpu_facts *f = &d->facts;
    struct assay_fields line = {0};
    char node[64];

    assay_fields_text(&line, "host", plan->host);
    assay_fields_count(&line, "device", (uint64_t)d->index);
    assay_fields_text(&line, "backend", plan->backend->name);
    assay_fields_text(&line, "model", f->name);
    assay_fields_text(&line, "arch", f->arch);
    assay_fields_text(&line, "xnack", manmem_xnack_words[f->xnack]);
    assay_fields_text(&line, "managed_memory", switch_word(f->managed));
    assay_fields_text(&line, "concurrent_managed_access",
                      switch_word(f->concurrent));
    assay_fields_text(&line, "pageable_memory_access",
                      switch_word(f->pageable));
    assay_fields_text(&line, "host_page_tables", switch_word(f->host_tables));
    assay_fields_text(&line, "integrated", switch_word(f->integrated));
    assay_fields_count(&line, "memory", f->memory);
    assay_fields_count(&line, "memory_free", f->free);
    assay_fields_text(&line, "bus", f->bus);
    assay_fields_text(&line, "numa_node",
                      numa_node(f->bus, node, sizeof(node)));
    assay_fields_text(&line, "runtime", f->runtime);
    assay_line(plan->run, "device", &line);
}

/* What changes how pages move, and is set outside of the program. */
static void record_driver(const struct plan *plan)
{
    static const char *const variables[] = {"HSA_XNACK",
                                            "SCALE_AMD_XNACK",
                                            "HIP_VISIBLE_DEVICES",
                                            "ROCR_VISIBLE_DEVICES",
                                            "CUDA_VISIBLE_DEVICES",
                                            "HSA_ENABLE_SDMA",
                                            "HIP_HOST_COHERENT",
                                            "HSA_USE_SVM",
                                            "CUDA_MANAGED_FORCE_DEVICE_ALLOC"};
    static const struct {
        const char *key, *path;
    } files[] = {
        {"amdgpu_version", "/sys/module/amdgpu/version"},
        {"amdgpu_noretry", "/sys/module/amdgpu/parameters/noretry"},
        {"amdgpu_svm_default_granularity",
         "/sys/module/amdgpu/parameters/svm_default_granularity"},
        {"nvidia_version", "/sys/module/nvidia/version"},
        {"nvidia_uvm_perf_prefetch_enable",
         "/sys/module/nvidia_uvm/parameters/uvm_perf_prefetch_enable"},
        {"numa_balancing", "/proc/sys/kernel/numa_balancing"},
    };
    struct assay_fields line = {0};
    char buf[128];

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *value = getenv(variables[i]);

        assay_fields_text(&line, variables[i], value ? value : "unset");
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        assay_fields_text(&line, files[i].key,
                          file_line(files[i].path, buf, sizeof(buf)));
    assay_line(plan->run, "driver", &line);
}

static void say_device(const struct plan *plan, const struct device *d)
{
    const struct gpu_facts *f = &d->facts;
    char memory[16], free_text[16], node[64];

    manmem_say(plan, "# device %d of %d: %s, %s, XNACK %s, %s, %s free\n",
               d->index, plan->present, f->name, f->arch,
               manmem_xnack_words[f->xnack], assay_size_text(f->memory, memory),
               assay_size_text(f->free, free_text));
    manmem_say(plan,
               "#   bus %s, NUMA node %s; managed %s, concurrent %s, pageable "
               "%s, integrated %s; %s\n",
               f->bus, numa_node(f->bus, node, sizeof(node)),
               switch_word(f->managed), switch_word(f->concurrent),
               switch_word(f->pageable), switch_word(f->integrated),
               f->runtime);
}

/* What is known to keep pages where they are. */
static void warn_device(const struct plan *plan, const struct device *d)
{
    const struct gpu_facts *f = &d->facts;

    if (f->managed == 0)
        assay_warn(plan->run,
                   "device %d says that it has no managed memory: what follows "
                   "is another kind of memory",
                   d->index);
    if (f->xnack == GPU_XNACK_OFF)
        assay_warn(plan->run,
                   "device %d: XNACK is off, so no page can move: managed "
                   "memory stays with the host and is read over the bus; set "
                   "HSA_XNACK=1 (no GPU of the node may lack XNACK)",
                   d->index);
    if (f->xnack == GPU_XNACK_UNSUPPORTED)
        assay_warn(plan->run,
                   "device %d has no XNACK: no page can move on demand",
                   d->index);
    if (f->xnack == GPU_XNACK_ON && f->pageable == 0)
        assay_warn(plan->run,
                   "device %d: XNACK is on in the name of its architecture, "
                   "but it can't access pageable memory: one of both is wrong",
                   d->index);
    if (f->integrated == 1 && strcmp(plan->backend->name, "host") != 0)
        assay_warn(plan->run,
                   "device %d shares its memory with the host: there is "
                   "nothing to migrate",
                   d->index);
}

/* What makes two devices of one: HIP_VISIBLE_DEVICES=0,0, say. */
static void warn_twins(const struct plan *plan, size_t i)
{
    const struct device *d = &plan->devices[i];

    for (size_t k = 0; k < i; k++)
        if (strcmp(d->facts.bus, plan->devices[k].facts.bus) == 0 &&
            strcmp(d->facts.bus, "none") != 0)
            assay_warn(plan->run,
                       "devices %d and %d are both at bus %s: one GPU twice, "
                       "or parts of one",
                       plan->devices[k].index, d->index, d->facts.bus);
}

void manmem_record_devices(struct plan *plan)
{
    static const char *const orders[] = {"one by one and then all at once",
                                         "one by one", "all at once"};

    record_driver(plan);
    manmem_say(plan, "# backend %s: %s\n", plan->backend->name,
               plan->backend->what);
    for (size_t i = 0; i < plan->ndevices; i++) {
        record_device(plan, &plan->devices[i]);
        say_device(plan, &plan->devices[i]);
        warn_device(plan, &plan->devices[i]);
        warn_twins(plan, i);
    }
    if (plan->ndevices > 1)
        manmem_say(plan, "# %zu devices: %s\n", plan->ndevices,
                   orders[plan->opt->order]);
    manmem_say(plan,
               "# managed memory: %llu bytes a device, %s, %s access, advise "
               "%s, prefetch %s\n",
               (unsigned long long)plan->bytes,
               manmem_type_words[plan->opt->type],
               manmem_access_words[plan->opt->access],
               manmem_advice_words[plan->opt->advise],
               plan->opt->prefetch ? "yes" : "no");
    manmem_say(plan, "# times: monotonic clock, from the launch to the end of "
                     "the synchronise; GB/s: 10^9 bytes a second\n");
}
