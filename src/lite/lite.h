/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The one printer of bound expressions as SQL for SQLite: arithmetic by the functions of
 * func/, so that it means what it means in the kernel.
 */
#ifndef EBQL_LITE_LITE_H
#define EBQL_LITE_LITE_H

#include "base/buf.h"
#include "plan/plan.h"
#include "type/type.h"

/*
 * Bound expressions as SQL.  What a column is called only the caller knows: leaf() prints it
 * and returns true, or leaves the expression to be printed from its arguments.
 */
struct lite_writer {
	bool (*leaf)(const struct lite_writer *writer, const struct expr *e, struct buf *out);
	void *context;
};

void lite_write(const struct lite_writer *writer, const struct expr *e, struct buf *out);
/* Where only true and false matter. */
void lite_write_condition(const struct lite_writer *writer, const struct expr *e, struct buf *out);
/* The value of a constant: an item of a projection that no column of its rows stands for. */
struct value lite_constant(const struct expr *e);
void lite_write_text(const char *text, u32 n, struct buf *out);

#endif
