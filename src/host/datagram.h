/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bytes -> a datagram to what listens at a path: the journal, the system's log, the service
 * manager.
 */
#ifndef EBQL_HOST_DATAGRAM_H
#define EBQL_HOST_DATAGRAM_H

#include "base/base.h"

/* To that local socket ('@': abstract), which is waited for 0.1 s at most; was it sent? */
bool datagram_send(const char *path, const char *bytes, size_t n);

#endif
