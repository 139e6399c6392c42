/* provenance.h - on what, with what and under which load a run was made. */
#ifndef ASSAY_PROVENANCE_H
#define ASSAY_PROVENANCE_H

#include "lib/record.h"
#include "lib/topology.h"

/* Append the facts that make a figure reproducible: host, CPU model,
 * microcode, caches, NUMA, DIMM and BIOS where readable, kernel, governor,
 * THP, compiler and flags, library versions, git revision, SHA-256 of the
 * program, allowed CPUs, container, and the variables of the environment that
 * change a run (OMP_*, LD_*, ...). What exists but can't be read says why:
 * "unknown (needs root)"; no key is ever left blank. */
void assay_provenance(struct assay_fields *env, const struct assay_topology *t);

/* Append the load on the machine now, each key with the prefix given
 * ("before_", "after_"): load (1, 5 and 15 minutes); psi_cpu and psi_memory
 * (% of the last 10 s in which a task waited), psi_cpu_us and psi_memory_us
 * (us waited since boot); steal, busy and own (CPU seconds since boot that a
 * hypervisor took, that all CPUs worked, that this process used); throttled,
 * where a cgroup accounts for it (seconds that its quota kept the group from
 * running). What others did meanwhile is the difference of busy less that of
 * own. */
void assay_load(struct assay_fields *f, const char *prefix);

/* The same, files taken under another root than "" (a recorded machine). */
void assay_provenance_under(struct assay_fields *env, const char *root,
                            const struct assay_topology *t);
void assay_load_under(struct assay_fields *f, const char *root,
                      const char *prefix);

/* This host's name as it stands in records: what gethostname says, cut at no
 * dot. buf gets at most size - 1 bytes; returns buf. */
char *assay_hostname(char *buf, size_t size);

#endif
