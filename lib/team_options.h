/* team_options.h - the rows of an option table by which programs on a team
 * choose kernels, what is counted, and where threads and pages go. */
#ifndef ASSAY_TEAM_OPTIONS_H
#define ASSAY_TEAM_OPTIONS_H

#include "lib/option.h"
#include "lib/team.h"

#define ASSAY_TEAM_CHOICE(name, offset, words, arg, help)                      \
    {                                                                          \
        0, name, ASSAY_CHOICE, offset, 0, 0, words, arg, help, NULL            \
    }

/* The fields of `options` are int: type, kernel, stores, write_allocate, pin
 * and hugepages. */
#define ASSAY_TEAM_OPTIONS(options)                                            \
    ASSAY_TEAM_CHOICE("type", offsetof(options, type), assay_type_words,       \
                      "TYPE", "element type"),                                 \
        ASSAY_TEAM_CHOICE("kernel", offsetof(options, kernel),                 \
                          assay_isa_words, "ISA",                              \
                          "instruction set of the kernels"),                   \
        ASSAY_TEAM_CHOICE(                                                     \
            "stores", offsetof(options, stores), assay_stores_words, "KIND",   \
            "how kernels store; auto: nontemporal where there is such"),       \
        ASSAY_TEAM_CHOICE(                                                     \
            "write-allocate", offsetof(options, write_allocate),               \
            assay_count_words, "WHEN",                                         \
            "count the fetch of written lines; auto: with regular stores"),    \
        ASSAY_TEAM_CHOICE("pin", offsetof(options, pin), assay_pin_words,      \
                          "HOW", "where threads are bound"),                   \
        ASSAY_TEAM_CHOICE("hugepages", offsetof(options, hugepages),           \
                          assay_hugepages_words, "KIND",                       \
                          "pages of the arrays")

#endif
