/* job_kernel.c - which kernel this is: a file of its own, so that a test can link
 * another answer before it. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lib/job_facts.h"

void assay_job_kernel(char kernel[ASSAY_KERNEL])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    kernel[0] = '\0';
    if (!file)
        return;
    if (!fgets(kernel, ASSAY_KERNEL, file))
        kernel[0] = '\0';
    kernel[strcspn(kernel, "\n")] = '\0';
    fclose(file);
}
