/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Physical plan -> text for EXPLAIN: what runs in the kernel and why there.
 */
#include "phys/internal.h"

static const char *const state_names[] = { "none (rows are streamed, and read every 10 ms)",
					   "direct index", "open-addressing table",
					   "kernel hash map" };

static void use_print(const struct hook *h, const struct hook_use *use, struct buf *out)
{
	const struct phys *p = use->phys;

	if (use > h->uses && (p->set->n_parts > 1 || p->n_sources > 1))
		buf_putc(out, ',');
	if (p->set->n_parts > 1)
		buf_printf(out, " %s", p->name);
	if (p->n_sources > 1)
		buf_printf(out, " s%u", use->source->number);
	if (h->path == ACCESS_RAW_SYSCALL && use->n_streams == 1)
		buf_printf(out, " where the number is %d (%s)", use->streams[0]->syscall_nr,
			   use->streams[0]->syscall);
	else if (use->n_streams > 1)
		buf_printf(out, " for %u streams", use->n_streams);
}

/* What its program tests, looks up and stores once for this use and for an earlier one. */
static void shared_print(const struct hook *h, u32 use, struct buf *out)
{
	u32 leader = phys_leader(h, use);
	u32 n = phys_n_alike(&h->uses[leader], &h->uses[use]) - 1, n_conditions = 0;

	if (leader == use || !n)
		return;
	for (u32 i = 0; i < n; i++)
		n_conditions += phys_point(h->uses[use].source, i).condition != NULL;
	buf_printf(out, "    %s shares with %s the first ", h->uses[use].phys->name,
		   h->uses[leader].phys->name);
	if (n_conditions > 1)
		buf_printf(out, "%u conditions", n_conditions);
	else if (n_conditions)
		buf_puts(out, "condition");
	if (n > n_conditions)
		buf_printf(out, "%sjoin%s", n_conditions ? " and " : "",
			   n - n_conditions > 1 ? "s" : "");
	buf_putc(out, '\n');
}

static void expr_line(const char *label, const struct expr *e, struct buf *out)
{
	buf_puts(out, label);
	expr_print(e, out);
	buf_putc(out, '\n');
}

void phys_print_hook(const struct hook *hook, struct buf *out)
{
	buf_printf(out, "%s %s", hook_word(hook), hook->target);
}

void phys_print_hooks(const struct phys_set *set, struct buf *out)
{
	const char *stays = phys_path_stays(set);

	for (u32 i = 0; i < set->n_hooks; i++) {
		const struct hook *h = &set->hooks[i];

		buf_puts(out, "  hook ");
		phys_print_hook(h, out);
		buf_puts(out, h->is_typed ? " (typed)" : "");
		for (u32 k = 0; k < h->n_uses; k++)
			use_print(h, &h->uses[k], out);
		buf_printf(out, "\n    %s\n", h->reason);
		for (u32 k = 0; k < h->n_uses; k++)
			shared_print(h, k, out);
		for (u32 k = 0; k < h->n_fields; k++) {
			buf_printf(out, "    %s is ", h->fields[k].name);
			expr_line("", h->fields[k].expr, out);
			if (h->fields[k].note)
				buf_printf(out, "      %s\n", h->fields[k].note);
		}
		if (h->is_split)
			buf_puts(out,
				 "    one of several programs there: one would be too large\n");
	}
	if (stays)
		buf_printf(out, "  the access path stays while it runs: %s\n", stays);
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
			buf_printf(out, ": %u bytes%s%s\n", 8 * key->n_words,
				   key->null_bit >= 0 ? ", may be NULL" : "",
				   expr_is_constant(key->expr) ? ", the same in all groups" : "");
	}
	for (u32 i = 0; i < p->n_cells; i++)
		phys_cell_print(&p->cells[i], out);
}

static bool has_histogram(const struct phys *p)
{
	for (u32 i = 0; i < p->n_cells; i++)
		if (p->cells[i].kind == CELL_HISTOGRAM)
			return true;
	return false;
}

static bool has_use(const struct hook *hook, const struct phys *p)
{
	for (u32 i = 0; i < hook->n_uses; i++)
		if (hook->uses[i].phys == p)
			return true;
	return false;
}

/* "1 %": in millionths. */
static void budget_print(const struct phys *p, struct buf *out)
{
	u64 share = p->settings->max_cpu;

	if (p->wake_cell >= 0)
		buf_printf(out,
			   "  wakes user space at count %llu of cell +%u, which ends the window\n",
			   (unsigned long long)p->settings->wake_count,
			   p->cells[p->wake_cell].bytes_offset);
	if (!p->has_budget)
		return;
	buf_printf(out, "  budget %llu.%02llu %% of a CPU: one event in %u is measured; beyond it ",
		   (unsigned long long)share / 10000, (unsigned long long)share / 100 % 100,
		   BUDGET_EVERY);
	buf_puts(out, p->settings->over_budget == BUDGET_SAMPLE
			      ? "fewer threads are taken, or it is detached\n"
			      : "it is detached\n");
	for (u32 i = 0; i < p->set->n_hooks; i++) {
		const struct hook *hook = &p->set->hooks[i];

		if (hook->path == ACCESS_RAW_SYSCALL && has_use(hook, p))
			buf_printf(
				out,
				"  budget: %s runs at every system call of the machine, and each "
				"is paid, %.3g ns by the table; max_cpu = '1%%' bears %.3g of them a second\n",
				hook->target, phys_charged_ns(hook),
				BUDGET_SHARE * 15 / 16 * 1e7 / phys_charged_ns(hook));
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
	buf_printf(out, "; a slice per CPU%s, 2 copies%s: %llu KiB\n",
		   s->n_levels > 1 ? " and nesting level" : "",
		   p->window ? " (one flip of the epochs, for all CPUs, closes a window)" : "",
		   (unsigned long long)(s->total_bytes + 1023) >> 10);
	if (s->pool_bytes)
		buf_printf(out, "    %u bytes of each slice for chunks of histograms\n",
			   s->pool_bytes);
	if (s->max_groups < p->settings->max_groups)
		buf_printf(out, "    max_groups lowered to %llu: %s of %llu are too large\n",
			   (unsigned long long)s->max_groups,
			   has_histogram(p) ? "histograms" : "sketches",
			   (unsigned long long)p->settings->max_groups);
}

/* --- The ways of events, and the joins on them --- */

static void step_print(const struct phys_step *step, const char *between, struct buf *out)
{
	for (u32 i = 0; i < step->n_conjuncts; i++) {
		buf_puts(out, i ? between : "where ");
		expr_print(step->conjuncts[i], out);
	}
	if (step->running)
		buf_printf(out, "add to r%u", step->running->number);
	if (!step->join)
		return;
	buf_printf(out, "%s j%u on", step->kind == STEP_LOOKUP ? "look up" : "store for",
		   step->join->number);
	for (u32 i = 0; i < step->join->n_keys; i++) {
		buf_puts(out, i ? ", " : " ");
		expr_print(step->keys[i], out);
	}
}

static void source_print(const struct phys_source *s, struct buf *out)
{
	buf_printf(out, "s%u (%s%s)", s->number, s->streams->streams.at[0]->name,
		   s->streams->streams.n > 1 ? ", ..." : "");
}

static void sources_print(const struct phys *p, struct buf *out)
{
	for (u32 i = 0; i < p->n_sources; i++) {
		const struct phys_source *s = &p->sources[i];

		if (p->n_sources > 1) {
			buf_puts(out, "  each event of ");
			source_print(s, out);
			buf_putc(out, '\n');
		}
		for (u32 j = 0; j < s->n_steps; j++) {
			buf_puts(out, "  ");
			step_print(&s->steps[j], "\n  where ", out);
			buf_putc(out, '\n');
		}
		for (u32 j = 0; j < s->n_columns; j++) {
			buf_printf(out, "  stream +%u ", s->columns[j].bytes_offset);
			expr_line("", s->columns[j].expr, out);
		}
	}
}

static void join_print(const struct phys_join *j, struct buf *out)
{
	buf_printf(out, "  j%u %s%s, %s: %u slots of %u bytes (%s)\n", j->number,
		   j->is_left ? "left " : "", j->join == JOIN_PAIR ? "pair" : "as of",
		   j->kind == PAIR_THREAD ? "by thread" : "own table", j->n_slots, j->slot_bytes,
		   j->reason);
	if (j->within_ns)
		buf_printf(out, "    forgets starts older than %llu ns\n",
			   (unsigned long long)j->within_ns);
	for (u32 i = 0; i < j->n_columns; i++) {
		buf_printf(out, "    keeps +%u ", j->columns[i].bytes_offset);
		expr_line("", j->columns[i].expr, out);
	}
}

static void running_print(const struct phys_running *r, struct buf *out)
{
	if (r->leader)
		buf_printf(out, "  r%u running sum, in the slots of r%u\n", r->number,
			   r->leader->number);
	else
		buf_printf(out, "  r%u running sum, %s: %u slots of %u bytes (%s)\n", r->number,
			   r->kind == RUNNING_DIRECT ? "direct index" : "own table", r->n_slots,
			   r->slot_bytes, r->reason);
	expr_line("    of ", r->plan->running.arg, out);
	if (r->leader)
		return;
	for (u32 i = 0; i < r->n_keys; i++)
		expr_line("    by ", r->keys[i].expr, out);
}

void phys_print(const struct phys *p, struct buf *out)
{
	buf_puts(out, "kernel\n");
	if (p->set->n_parts == 1)
		phys_print_hooks(p->set, out);
	sources_print(p, out);
	if (p->typed.cast_btf_id)
		buf_puts(out,
			 "  members are loaded one by one, and by a helper where that gives 0\n");
	for (u32 i = 0; i < p->n_joins; i++)
		join_print(&p->joins[i], out);
	if (p->starts != p->number && p->starts < p->set->n_parts)
		buf_printf(out, "    starts are in the table of %s\n",
			   p->set->parts[p->starts]->name);
	for (u32 i = 0; i < p->n_runnings; i++)
		running_print(&p->runnings[i], out);
	keys_print(p, out);
	for (u32 i = 0; i < p->n_columns; i++) {
		buf_printf(out, "  stream c%u +%u ", i, p->columns[i].bytes_offset);
		expr_line("", p->columns[i].expr, out);
	}
	if (p->set->hooks[0].path == ACCESS_ITERATOR)
		buf_printf(out, "  rows of %u bytes, as the list is walked\n", p->row_bytes);
	else
		state_print(p, out);
	budget_print(p, out);
}

void phys_print_operator(const struct phys *p, u32 number, struct buf *out)
{
	const struct phys_source *s = phys_operator_source(p, number);
	const struct phys_step *step = phys_operator_step(p, number);

	if (step) {
		step_print(step, " AND ", out);
	} else if (s) {
		buf_puts(out, "scan ");
		source_print(s, out);
	} else if (p->state.kind == STATE_NONE) {
		buf_puts(out, "stream");
	} else {
		buf_printf(out, "aggregate, %s", state_names[p->state.kind]);
	}
}
