/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * explain: each stage of a query as text, under the names of the folders.
 */
#include <strings.h>

#include "query/query.h"

static void show_ast(struct query *q, struct buf *out)
{
	sql_print_script(q->script, true, out);
}

/* With several parts each has its name before it. */
static void name_part(struct query *q, u32 i, struct buf *out)
{
	if (q->cut->sql)
		buf_printf(out, "part %s\n", q->cut->parts[i].name);
}

static void show_logical(struct query *q, struct buf *out)
{
	plan_print(q->bound_plan, out);
}

static void show_cut(struct query *q, struct buf *out)
{
	cut_print(q->cut, out);
}

static void show_optimized(struct query *q, struct buf *out)
{
	for (u32 i = 0; i < q->cut->n_parts; i++) {
		name_part(q, i, out);
		if (q->parts[i].optimized)
			plan_print(q->parts[i].optimized, out);
	}
}

static void show_physical(struct query *q, struct buf *out)
{
	cut_print(q->cut, out);
	if (q->programs && q->programs->set->n_parts > 1) {
		buf_puts(out, "hooks\n");
		phys_print_hooks(q->programs->set, out);
	}
	for (u32 i = 0; i < q->cut->n_parts; i++) {
		const struct programs *list = q->parts[i].list;

		if (!q->parts[i].phys && !list)
			continue;
		name_part(q, i, out);
		phys_print(list ? list->set->parts[0] : q->parts[i].phys, out);
	}
}

static void program_line(const struct load_program *p, u32 i, struct buf *out)
{
	buf_printf(out, "program %u on %s: %u instructions, %u bytes of stack, %u spills\n", i,
		   p->hook->target, p->code.n_insns, p->code.stack_bytes, p->code.n_spills);
}

static void put_ir(const struct query *q, const struct programs *programs, u32 i, struct buf *out)
{
	ir_print(programs->irs[i], out);
}

static void put_bpf(const struct query *q, const struct programs *programs, u32 i, struct buf *out)
{
	bpf_disassemble(&programs->of_hook[i].code, q->diags.text, out);
}

typedef void put_program(const struct query *q, const struct programs *programs, u32 i,
			 struct buf *out);

/* Of hooks, which all parts share, and then of lists, which each part has of its own. */
static void each_program(struct query *q, put_program *put, struct buf *out)
{
	u32 n = 0;

	for (u32 part = 0; part <= q->cut->n_parts; part++) {
		const struct programs *p = part ? q->parts[part - 1].list : q->programs;

		for (u32 i = 0; p && i < p->set->n_hooks; i++) {
			program_line(&p->of_hook[i], n++, out);
			put(q, p, i, out);
		}
	}
}

static void show_ir(struct query *q, struct buf *out)
{
	each_program(q, put_ir, out);
}

static void show_bpf(struct query *q, struct buf *out)
{
	each_program(q, put_bpf, out);
}

static const struct {
	const char *name;
	void (*show)(struct query *q, struct buf *out);
} stages[] = {
	{ "ast", show_ast },	       { "cut", show_cut },
	{ "logical", show_logical },   { "optimized", show_optimized },
	{ "physical", show_physical }, { "ir", show_ir },
	{ "bpf", show_bpf },
};

bool query_has_stage(const char *stage)
{
	for (u32 i = 0; i < ARRAY_SIZE(stages); i++)
		if (strcasecmp(stages[i].name, stage) == 0)
			return true;
	return strcasecmp(stage, "all") == 0;
}

bool query_explain(struct query *query, const char *stage, struct buf *out)
{
	bool all = strcasecmp(stage, "all") == 0;

	if (strcasecmp(stage, "ast") != 0) {
		if (!query_compile(query))
			return false;
		query_check_functions(query, NULL);
	}
	for (u32 i = 0; i < ARRAY_SIZE(stages); i++) {
		if (!all && strcasecmp(stages[i].name, stage) != 0)
			continue;
		if (all)
			buf_printf(out, "%s-- %s\n", i ? "\n" : "", stages[i].name);
		stages[i].show(query, out);
	}
	return true;
}
