/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A process of the program that runs queries, whichever subcommand's: the loop around the engine's
 * steps (loop.h) and signals (signals.h), what the user is told (tell.h), the terminal
 * (terminal.h), may rows be written so (record.h), files that are written (written.h), datagrams
 * (datagram.h) and the audit (audit.h).
 */
#ifndef EBQL_HOST_HOST_H
#define EBQL_HOST_HOST_H

#include "host/audit.h"
#include "host/datagram.h"
#include "host/loop.h"
#include "host/record.h"
#include "host/signals.h"
#include "host/tell.h"
#include "host/terminal.h"
#include "host/written.h"

#endif
