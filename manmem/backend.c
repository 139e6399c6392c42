/* backend.c - which back end: one that was named, or the first that has a
 * device. The stand-in is never taken unless it is named. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "manmem/plan.h"

/* The program's own folder, in the build tree as installed. */
static void own_folder(const struct plan *plan, char *buf, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", buf, size - 1);
    char *slash;

    if (n < 0)
        assay_die(plan->run, ASSAY_BROKEN, "/proc/self/exe: %s",
                  strerror(errno));
    buf[n] = '\0';
    slash = strrchr(buf, '/');
    if (slash)
        *slash = '\0';
}

/* Load a plugin. NULL, and why, where this node or this build has none; what
 * is there but is no plugin of ours ends the run. It is never unloaded: the
 * run times behind it don't bear that. */
static const struct gpu_backend *load(struct plan *plan, const char *name,
                                      char *why, size_t size)
{
    char folder[PATH_MAX];
    const struct gpu_backend *backend;
    gpu_backend_f *entry;
    void *handle;

    if (plan->opt->plugins)
        snprintf(folder, sizeof(folder), "%s", plan->opt->plugins);
    else
        own_folder(plan, folder, sizeof(folder));
    snprintf(plan->plugin, sizeof(plan->plugin), "%.4000s/manmem-%s.so", folder,
             name);
    if (access(plan->plugin, F_OK) < 0) {
        snprintf(why, size, "no back end %s: %.180s: %s", name, plan->plugin,
                 errno == ENOENT ? "not built or not installed"
                                 : strerror(errno));
        return NULL;
    }
    handle = dlopen(plan->plugin, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, size, "no back end %s: %s", name, dlerror());
        return NULL;
    }
    *(void **)&entry = dlsym(handle, "gpu_backend");
    backend = entry ? entry() : NULL;
    if (!backend || backend->version != GPU_VERSION)
        assay_die(plan->run, ASSAY_BROKEN,
                  "%s: is no back end of this version of manmem", plan->plugin);
    return backend;
}

/* Devices of a back end: 0, and why, where there is none; anything but that
 * ends the run. */
static int count(const struct plan *plan, const struct gpu_backend *backend,
                 char *why, size_t size)
{
    struct gpu_error error = {""};
    int n = 0, status;

    manmem_watch(plan, 1, "looking for devices");
    status = backend->count(&n, &plan->setup, &error);
    if (status == GPU_OK && n > 0)
        return n;
    if (status != GPU_OK && status != GPU_NONE)
        assay_die(plan->run, ASSAY_BROKEN, "%s: looking for devices: %s",
                  backend->name, error.text);
    snprintf(why, size, "%s: no device: %s", backend->name,
             error.text[0] ? error.text : "0 devices");
    return 0;
}

/* Whether this back end is there and has a device; else why not. */
static bool take(struct plan *plan, const char *name, char *why, size_t size)
{
    plan->backend = strcmp(name, "host") == 0 ? gpu_host_backend()
                                              : load(plan, name, why, size);
    plan->present = plan->backend ? count(plan, plan->backend, why, size) : 0;
    return plan->present > 0;
}

void manmem_find_backend(struct plan *plan)
{
    static const char *const names[] = {[BACKEND_HIP] = "hip",
                                        [BACKEND_CUDA] = "cuda",
                                        [BACKEND_HOST] = "host"};
    int wanted = plan->opt->backend;
    char hip[256], cuda[256];

    if (wanted == BACKEND_AUTO) {
        if (take(plan, "hip", hip, sizeof(hip)) ||
            take(plan, "cuda", cuda, sizeof(cuda)))
            return;
        assay_die(plan->run, ASSAY_NOTRUN, "%s; %s", hip, cuda);
    }
    if (!take(plan, names[wanted], hip, sizeof(hip)))
        assay_die(plan->run, ASSAY_NOTRUN, "%s", hip);
}
