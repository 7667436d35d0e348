/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Descriptors -> the files that they are of.
 */
#include "gen/internal.h"

/*
 * The number of open ones is read before the pointers are: a table only grows, and the old one
 * stays until no program reads it any more (RCU).
 */
vreg gen_file(struct gen *g, const struct expr *e, label null)
{
	vreg fd = gen_value(g, e->args[0], null), n = gen_value(g, e->args[1], null), at, file;

	/* What is negative is a large number here. */
	ir_branch(g->ir, IR_GE, fd, n, null);
	at = gen_alui(g, IR_MUL, fd, 8);
	at = gen_alu(g, IR_ADD, at, gen_value(g, e->args[2], null));
	file = gen_probe_load(g, at, IR_U64);
	ir_branchi(g->ir, IR_EQ, file, 0, null);
	return file;
}
