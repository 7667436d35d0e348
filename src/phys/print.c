/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Physical plan -> text for EXPLAIN: what runs in the kernel and why there, what
 * is left to the user part.
 */
#include "phys/phys.h"

static const char *const access_names[ACCESS_N] = { "tracepoint", "raw tracepoint",
						    "raw system call tracepoint", "replay" };
static const char *const state_names[] = { "none (rows are streamed)", "direct index",
					   "open-addressing table", "kernel hash map" };
static const char *const cell_names[CELL_KIND_N] = { "count", "sum", "min", "max" };

static void hooks_print(const struct phys *p, struct buf *out)
{
	for (u32 i = 0; i < p->n_hooks; i++) {
		const struct hook *h = &p->hooks[i];

		buf_printf(out, "  hook %s %s%s", access_names[h->path], h->target,
			   h->is_typed ? " (typed)" : "");
		if (h->path == ACCESS_RAW_SYSCALL && h->n_streams == 1)
			buf_printf(out, " where the number is %d (%s)", h->streams[0]->syscall_nr,
				   syscall_name(h->streams[0]->syscall_nr));
		else if (h->n_streams > 1)
			buf_printf(out, " for %u streams", h->n_streams);
		buf_printf(out, "\n    %s\n", h->reason);
	}
}

static void expr_line(const char *label, const struct expr *e, struct buf *out)
{
	buf_puts(out, label);
	expr_print(e, out);
	buf_putc(out, '\n');
}

static void keys_print(const struct phys *p, struct buf *out)
{
	for (u32 i = 0; i < p->n_keys; i++) {
		const struct phys_key *key = &p->keys[i];

		buf_printf(out, "  key k%u ", i);
		expr_print(key->expr, out);
		if (key->is_slice)
			buf_puts(out, ": free, it names the CPU's slice\n");
		else
			buf_printf(out, ": %u bytes%s\n", 8 * key->n_words,
				   key->null_bit >= 0 ? ", may be NULL" : "");
	}
	for (u32 i = 0; i < p->n_cells; i++) {
		const struct cell *c = &p->cells[i];

		buf_printf(out, "  cell +%u %s", c->bytes_offset, cell_names[c->kind]);
		if (c->kind == CELL_SUM)
			buf_puts(out, c->is_wide ? " (128 bits)" : " (64 bits)");
		if (c->arg) {
			buf_puts(out, " of ");
			expr_print(c->arg, out);
		}
		if (c->filter) {
			buf_puts(out, " where ");
			expr_print(c->filter, out);
		}
		buf_putc(out, '\n');
	}
}

static void state_print(const struct phys *p, struct buf *out)
{
	const struct state_layout *s = &p->state;

	buf_printf(out, "  state %s", state_names[s->kind]);
	if (s->kind == STATE_DIRECT)
		buf_printf(out, ", %u row%s of %u bytes", s->n_rows, s->n_rows == 1 ? "" : "s",
			   s->row_bytes);
	if (s->kind == STATE_TABLE)
		buf_printf(out, ", %llu groups of %u bytes, index of %u",
			   (unsigned long long)s->max_groups, s->row_bytes, s->n_index);
	if (s->kind == STATE_KERNEL_MAP)
		buf_printf(out, ", %llu groups", (unsigned long long)s->max_groups);
	buf_printf(out, "; a slice per CPU%s, 2 copies: %llu KiB\n",
		   s->n_levels > 1 ? " and nesting level" : "",
		   (unsigned long long)(s->total_bytes + 1023) >> 10);
}

static void user_print(const struct phys *p, struct buf *out)
{
	const struct phys_user *u = &p->user;

	buf_puts(out, "user\n");
	if (p->window == WINDOW_TUMBLING)
		buf_printf(
			out,
			"  close the window each %lluns: flip the epoch of each CPU, drain, merge\n",
			(unsigned long long)p->window_ns);
	else if (!p->is_streaming)
		buf_puts(out, "  accumulate to the end\n");
	else
		buf_puts(out, "  read the ring buffer each 10 ms\n");
	if (u->sql) {
		buf_printf(out, "  sqlite %s\n", u->sql);
		return;
	}
	buf_puts(out, "  columns");
	for (u32 i = 0; i < u->output.n_columns; i++)
		buf_printf(out, "%s %s = c%d", i ? "," : "", u->output.columns[i].name,
			   u->output_from[i]);
	buf_putc(out, '\n');
}

void phys_print(const struct phys *p, struct buf *out)
{
	buf_puts(out, "kernel\n");
	hooks_print(p, out);
	for (u32 i = 0; i < p->n_conjuncts; i++)
		expr_line("  where ", p->conjuncts[i], out);
	keys_print(p, out);
	for (u32 i = 0; i < p->n_columns; i++) {
		buf_printf(out, "  stream c%u +%u ", i, p->columns[i].bytes_offset);
		expr_line("", p->columns[i].expr, out);
	}
	state_print(p, out);
	user_print(p, out);
}
