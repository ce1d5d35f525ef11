/* The mark program's report (report.c). */
#ifndef HN_REPORT_H
#define HN_REPORT_H

#include "mark.h"

void report_kernel(void);
void report_processes(void);

#endif
