/* options.c - the one table of options: parser, help, defaults, record. */
#include "config.h"

#include "manmem/options.h"

const char *const manmem_type_words[] = {"float", "double", NULL};
const char *const manmem_access_words[] = {"consecutive", "coalesced", NULL};
const char *const manmem_advice_words[] = {"none", "preferred", "accessed",
                                           "read", "coarse",    NULL};
static const char *const backend_words[] = {"auto", "hip", "cuda", "host",
                                            NULL};
static const char *const order_words[] = {"both", "alone", "together", NULL};

#define OPT(field) offsetof(struct options, field)
#define CHOICE(name, field, words, arg, help)                                  \
    {                                                                          \
        0, name, ASSAY_CHOICE, OPT(field), 0, 0, words, arg, help, NULL        \
    }
#define NUMBER(name, type, field, min, max, arg, help, unset)                  \
    {                                                                          \
        0, name, type, OPT(field), min, max, NULL, arg, help, unset            \
    }
#define FLAG(name, field, help)                                                \
    {                                                                          \
        0, name, ASSAY_FLAG, OPT(field), 0, 0, NULL, NULL, help, NULL          \
    }

static const struct assay_option table[] = {
    CHOICE("backend", backend, backend_words, "WHICH",
           "auto: HIP, else CUDA; host emulates, and only when named"),
    {'d', "devices", ASSAY_TEXT, OPT(devices), 0, 0, NULL, "LIST",
     "devices to measure: 0,2-3", "all"},
    CHOICE("order", order, order_words, "HOW",
           "several devices: one by one, all at once, or both"),
    NUMBER("block-size", ASSAY_COUNT, block_size, 1, 1048576, "N",
           "threads of a block", NULL),
    NUMBER("num-blocks", ASSAY_COUNT, num_blocks, 1, 2147483647, "N", "blocks",
           "256; 64 with --backend=host"),
    NUMBER("elements-per-thread", ASSAY_SIZE, elements, 1, 0, "N",
           "elements that each thread sums", NULL),
    CHOICE("type", type, manmem_type_words, "TYPE", "element type"),
    NUMBER("iterations", ASSAY_COUNT, iterations, 4, 1000000, "N",
           "runs of the kernel", NULL),
    CHOICE("access", access, manmem_access_words, "HOW",
           "elements of a thread: consecutive, or coalesced with others'"),
    CHOICE("advise", advise, manmem_advice_words, "WHAT",
           "advice given for the managed memory"),
    FLAG("prefetch", prefetch, "bring all pages before iteration 0"),
    NUMBER("ping-pong", ASSAY_COUNT, ping_pong, 1, 1000, "K",
           "then let the host write all of it anew every K iterations",
           "never"),
    NUMBER("rounds", ASSAY_COUNT, rounds, 1, 1000, "N", "rounds of --ping-pong",
           NULL),
    FLAG("oversubscribe", oversubscribe,
         "allow more managed memory than the device has"),
    NUMBER("chunk", ASSAY_SIZE, chunk, 4096, 1073741824, "SIZE",
           "bytes that a fault moves, with --backend=host", NULL),
    NUMBER("stand-ins", ASSAY_COUNT, stand_ins, 1, 16, "N",
           "devices to emulate, with --backend=host", NULL),
    NUMBER("watchdog", ASSAY_REAL, watchdog, 0.1, 1000000, "S",
           "end if a single step takes longer, seconds", NULL),
    {0, "plugins", ASSAY_TEXT, OPT(plugins), 0, 0, NULL, "DIR",
     "folder of manmem-hip.so and manmem-cuda.so", "that of the program"},
    ASSAY_OPTION_END,
};

const struct assay_program manmem_program = {
    .name = "manmem",
    .summary = "Managed memory of GPUs: how long its pages take to come, and "
               "whether they come.",
    .table = table,
    .notes = "Sizes take K, M and G, powers of 1024; rates are in GB/s, 10^9 "
             "bytes a second.",
};
