/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * SQLite: connections, relations (rows in memory as virtual tables), rows that are kept, and a
 * table by keys.
 */
#ifndef EBQL_REL_REL_H
#define EBQL_REL_REL_H

#include "rel/connect.h"
#include "rel/keys.h"
#include "rel/relation.h"
#include "rel/row_pool.h"

#endif
