/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A process that hosts the engine, for whatever runs queries in it: what it was asked for
 * (options.h), the loop around the engine's steps (loop.h) and signals (signals.h), what the user
 * is told (report.h), files that rows are written to (record.h), the audit (audit.h) and the
 * service manager (service.h).
 */
#ifndef EBQL_HOST_HOST_H
#define EBQL_HOST_HOST_H

#include "host/audit.h"
#include "host/loop.h"
#include "host/options.h"
#include "host/record.h"
#include "host/report.h"
#include "host/service.h"
#include "host/signals.h"

#endif
