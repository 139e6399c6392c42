/* assay.h - what every benchmark includes of libassay. What some need they
 * include by name: sizes, mix, and the last layer.
 *
 * Layers, each using only those above it:
 *   clock  units  sizes  stats  mix  sha256  facts and arithmetic, no state
 *   record                                   the file a program leaves behind
 *   topology  memory  affinity               the machine this process may use
 *   provenance                               what was measured on
 *   option  run                              from argv to exit status
 *   kernels  verify  team                    the timed loops, and their proof
 */
#ifndef ASSAY_H
#define ASSAY_H

#include "lib/affinity.h"
#include "lib/clock.h"
#include "lib/finite.h"
#include "lib/memory.h"
#include "lib/option.h"
#include "lib/provenance.h"
#include "lib/record.h"
#include "lib/run.h"
#include "lib/sha256.h"
#include "lib/stats.h"
#include "lib/topology.h"
#include "lib/units.h"

#endif
