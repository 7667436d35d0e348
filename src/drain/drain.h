/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory of the kernel -> groups of a window (groups.h), streamed rows (events.h, stream.h),
 * and accounts of what happened (meter.h).
 */
#ifndef EBQL_DRAIN_DRAIN_H
#define EBQL_DRAIN_DRAIN_H

#include "drain/copy.h"
#include "drain/events.h"
#include "drain/groups.h"
#include "drain/list.h"
#include "drain/merge.h"
#include "drain/meter.h"
#include "drain/pair.h"
#include "drain/panes.h"
#include "drain/rows.h"
#include "drain/stream.h"

#endif
