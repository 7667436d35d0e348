/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of sys/ share. */
#ifndef EBQL_SYS_INTERNAL_H
#define EBQL_SYS_INTERNAL_H

#include "sys/sys.h"

/* Around a call that needs all that the process may have; errno stays. */
void rights_raise(void);
/* Of these (SYS_CAP()) alone. */
void rights_raise_only(u64 set);
void rights_lower(void);

#endif
