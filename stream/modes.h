/* modes.h - what stream can be asked to find out. */
#ifndef STREAM_MODES_H
#define STREAM_MODES_H

#include "stream/plan.h"

/* Measure, record and print (unless quiet) in the mode of plan->opt. */
void stream_run_mode(const struct plan *plan);

/* The modes that have a file of their own. */
void stream_mode_scaling(const struct plan *plan);
void stream_mode_numa(const struct plan *plan);
void stream_mode_original(const struct plan *plan);

#endif
