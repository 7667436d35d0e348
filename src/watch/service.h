/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the manager that started ebql watch as a service is told, as sd_notify(3) has it: datagrams
 * to $NOTIFY_SOCKET.  libsystemd would bring four libraries more for that.
 */
#ifndef EBQL_WATCH_SERVICE_H
#define EBQL_WATCH_SERVICE_H

#include "base/base.h"

/* Takes what the environment has of it, so that no command gets that. */
void service_open(void);
/* Does nothing where no manager wants to know. */
void service_tell(const char *format, ...) PRINTF(1, 2);
/* It is begun to read all anew: until READY=1 is told. */
void service_tell_reload(void);
/* When the manager wants the next sign of life (CLOCK_MONOTONIC); 0: never. */
u64 service_live_ns(void);
/* Gives that sign, where it is time. */
void service_live(void);

#endif
