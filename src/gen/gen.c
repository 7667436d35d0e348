/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The order of a program: which event is it, take the CPU's slice, count it,
 * test WHERE, then update the group's cells or stream the row, and leave.
 */
#include "gen/internal.h"

/* A table of u16 by number; where it says 0 the call is not wanted.  Its word for this call. */
static vreg number_table(struct gen *g, const u16 *words, vreg number, label out)
{
	u32 n = (u32)syscall_count(), at = gen_constant_table(g, words, n * sizeof(*words));
	vreg word;

	ir_branchi(g->ir, IR_GE, number, n, out);
	word = gen_load(g, gen_table_address(g, at, gen_alui(g, IR_SHL, number, 1)), 0, IR_U16);
	ir_branchi(g->ir, IR_EQ, word, 0, out);
	return word;
}

/* Is it one of this use's calls, and which? */
static void take_number(struct gen *g, vreg number, label out)
{
	const struct hook_use *use = g->use;
	u32 n = (u32)syscall_count();
	u16 *codes;

	if (use->n_streams == 1) {
		ir_branchi(g->ir, IR_NE, number, use->streams[0]->syscall_nr, out);
		return;
	}
	codes = arena_array(g->arena, u16, n);
	for (u32 i = 0; i < use->n_streams; i++) {
		s32 nr = use->streams[i]->syscall_nr;

		if (nr >= 0 && (u32)nr < n)
			codes[nr] = (u16)(use->first_probe + i + 1);
	}
	g->probe = number_table(g, codes, number, out);
	ir_alui(g->ir, IR_SUB, g->probe, g->probe, 1);
	g->number = number;
}

/* --- Which of several calls --- */

/* So many numbers are tested one after the other, more by halves: of 64 in 4 ns instead of 16. */
#define FEW_CALLS 4

/* The numbers that the uses of a hook want, ascending. */
struct calls {
	s32 *numbers;
	label *labels; /* where an event of each goes on */
	u32 n;
};

/* None where a use wants several. */
static struct calls find_calls(struct gen *g)
{
	const struct hook *hook = g->hook;
	struct calls calls = { arena_array(g->arena, s32, hook->n_uses),
			       arena_array(g->arena, label, hook->n_uses), 0 };

	for (u32 i = 0; i < hook->n_uses; i++) {
		s32 nr = hook->uses[i].streams[0]->syscall_nr;
		u32 at = 0;

		if (hook->uses[i].n_streams > 1)
			return (struct calls){ 0 };
		while (at < calls.n && calls.numbers[at] < nr)
			at++;
		if (at < calls.n && calls.numbers[at] == nr)
			continue;
		memmove(calls.numbers + at + 1, calls.numbers + at,
			(calls.n++ - at) * sizeof(*calls.numbers));
		calls.numbers[at] = nr;
	}
	return calls;
}

/* To the label of the number, one of those from `from` up to `to`; others go out. */
static void branch_by_number(struct gen *g, const struct calls *calls, u32 from, u32 to,
			     vreg number, label out)
{
	u32 middle = (from + to) / 2;
	label upper = ir_label(g->ir);

	if (to - from == 1) {
		ir_branchi(g->ir, IR_EQ, number, calls->numbers[from], calls->labels[from]);
		ir_jump(g->ir, out);
		return;
	}
	ir_branchi(g->ir, IR_GE, number, calls->numbers[middle], upper);
	branch_by_number(g, calls, from, middle, number, out);
	ir_place(g->ir, upper);
	branch_by_number(g, calls, middle, to, number, out);
}

/* Leaves where the call is none that any use of the hook wants. */
static void take_any_number(struct gen *g, vreg number, label out)
{
	const struct hook *hook = g->hook;
	struct calls calls = find_calls(g);
	u32 n = (u32)syscall_count();
	label known = ir_label(g->ir);
	u16 *wanted;

	if (!calls.n) {
		wanted = arena_array(g->arena, u16, n);
		for (u32 i = 0; i < hook->n_uses; i++)
			for (u32 k = 0; k < hook->uses[i].n_streams; k++) {
				s32 nr = hook->uses[i].streams[k]->syscall_nr;

				if (nr >= 0 && (u32)nr < n)
					wanted[nr] = 1;
			}
		number_table(g, wanted, number, out);
		return;
	}
	for (u32 i = 0; i < calls.n; i++)
		calls.labels[i] = known;
	if (calls.n > FEW_CALLS)
		branch_by_number(g, &calls, 0, calls.n, number, out);
	for (u32 i = 0; i < calls.n && calls.n <= FEW_CALLS; i++)
		ir_branchi(g->ir, IR_EQ, number, calls.numbers[i], known);
	if (calls.n <= FEW_CALLS)
		ir_jump(g->ir, out);
	ir_place(g->ir, known);
}

/*
 * Leaves where the call is one of the 32-bit table, whose numbers are others: of a 32-bit
 * program, or on x86-64 by int $0x80 from any.  As the syscall tracepoints know it
 * (arch_trace_is_compat_syscall()): the saved registers do not tell it.
 */
static void skip_compat(struct gen *g, label out)
{
	u32 offset = g->hook->task_compat_offset;
	vreg task, word;

	if (g->hook->is_typed) {
		task = gen_helper(g, BPF_FUNC_get_current_task_btf);
		word = gen_load(g, task, offset, IR_U32);
	} else {
		task = gen_helper(g, BPF_FUNC_get_current_task);
		word = gen_probe_load(g, gen_alui(g, IR_ADD, task, offset), IR_U32);
	}
	ir_branchi(g->ir, IR_TEST, word, g->set->arch->compat_bit, out);
}

/*
 * Is this a wanted system call?  Of its number the kernel takes 32 bits, whatever is above.  A
 * call's own function is entered by others, too: of the 32-bit table, of x32, for the vsyscall
 * page.
 */
static vreg call_filter(struct gen *g, void (*take)(struct gen *g, vreg number, label out),
			label out)
{
	struct ir *ir = g->ir;
	vreg number;

	g->registers = ir_reg(ir);
	if (g->hook->path == ACCESS_RAW_SYSCALL && !g->hook->is_exit) {
		number = gen_load(g, g->context, 8, IR_U32);
		take(g, number, out);
		ir_load(ir, g->registers, g->context, 0, IR_U64);
	} else {
		ir_load(ir, g->registers, g->context, 0, IR_U64);
		number = gen_register(g, g->set->arch->number, IR_U32);
		take(g, number, out);
	}
	skip_compat(g, out);
	return number;
}

static void begin_use(struct gen *g, const struct hook_use *use)
{
	g->use = use;
	g->phys = use->phys;
	g->source = use->source;
	g->slice = 0;
	g->number = g->probe = g->taken_at = 0;
	g->memos.n = g->stored.n = g->looked_up.n = g->slots.n = g->texts.n = 0;
	g->has_scratch = false;
}

/* Uses that go together; several such take the event in turn.  It has one time for all. */
struct crowd {
	const struct hook_use **uses;
	u32 n;
};

static u32 find_crowds(const struct gen *g, struct crowd *crowds)
{
	const struct hook *hook = g->hook;
	u32 n = 0;

	for (u32 i = 0; i < hook->n_uses; i++) {
		struct crowd *crowd = &crowds[n];

		if (phys_leader(hook, i) != i)
			continue;
		*crowd = (struct crowd){
			arena_array(g->arena, const struct hook_use *, hook->n_uses), 0
		};
		for (u32 k = i; k < hook->n_uses; k++)
			if (phys_leader(hook, k) == i)
				crowd->uses[crowd->n++] = &hook->uses[k];
		n++;
	}
	return n;
}

/* number 0: it is known to be theirs. */
static void take_crowd(struct gen *g, const struct crowd *crowd, vreg number, label end)
{
	begin_use(g, crowd->uses[0]);
	if (number)
		take_number(g, number, end);
	gen_way(g, crowd->uses, crowd->n);
}

/* Those of each number, to which one jump leads. */
static void take_by_number(struct gen *g, const struct crowd *crowds, u32 n,
			   const struct calls *calls, vreg number)
{
	label end = ir_label(g->ir);

	for (u32 i = 0; i < calls->n; i++)
		calls->labels[i] = ir_label(g->ir);
	branch_by_number(g, calls, 0, calls->n, number, end);
	for (u32 i = 0; i < calls->n; i++) {
		ir_place(g->ir, calls->labels[i]);
		for (u32 k = 0; k < n; k++)
			if (crowds[k].uses[0]->streams[0]->syscall_nr == calls->numbers[i])
				take_crowd(g, &crowds[k], 0, end);
		ir_jump(g->ir, end);
	}
	ir_place(g->ir, end);
}

static void take_crowds(struct gen *g, const struct crowd *crowds, u32 n, vreg number)
{
	struct calls calls = number ? find_calls(g) : (struct calls){ 0 };

	if (calls.n > FEW_CALLS) {
		take_by_number(g, crowds, n, &calls, number);
		return;
	}
	for (u32 i = 0; i < n; i++) {
		label end = ir_label(g->ir);

		take_crowd(g, &crowds[i], number, end);
		ir_place(g->ir, end);
	}
}

/* For each part once, whatever becomes of it: what is expected beyond that was missed. */
static void count_samples(struct gen *g)
{
	const struct hook *hook = g->hook;

	for (u32 i = 0; i < hook->n_uses; i++) {
		begin_use(g, &hook->uses[i]);
		if (!i || hook->uses[i].phys != hook->uses[i - 1].phys)
			gen_count_sample(g);
	}
}

static void take_uses(struct gen *g, label out)
{
	struct crowd *crowds = arena_array(g->arena, struct crowd, g->hook->n_uses);
	u32 n = find_crowds(g, crowds);
	vreg number = 0;

	if (g->kind->is_sample)
		count_samples(g);
	gen_budget_hook(g);
	begin_use(g, g->hook->uses);
	if (access_kinds[g->hook->path].is_of_calls)
		number = call_filter(g, n == 1 ? take_number : take_any_number, out);
	if (g->kind->is_list) {
		gen_list_begin(g, out);
	} else if (gen_needs_slice(g->hook, NULL)) {
		ir_note(g->ir, "slot of this CPU");
		gen_enter(g, out);
	}
	if (g->hook->n_uses > 1)
		gen_once_begin(g);
	if (n == 1)
		gen_way(g, crowds->uses, crowds->n);
	else
		take_crowds(g, crowds, n, number);
	ir_note(g->ir, "leave");
	ir_at(g->ir, (struct span){ 0, 0 });
	if (g->line)
		gen_leave(g);
}

/*
 * The end, or on to the first of these places where there is a program: a call of a constant place
 * is a jump where there is one, and nothing where there is none.
 */
static void go_on(struct ir *ir, vreg context, u32 place)
{
	vreg args[3] = { context };

	for (; place < CHAIN_PLACES; place++) {
		args[1] = ir_reg(ir);
		args[2] = ir_reg(ir);
		ir_map(ir, args[1], LOAD_MAP_CHAIN);
		ir_imm(ir, args[2], place);
		ir_call(ir, 0, BPF_FUNC_tail_call, 3, args);
	}
	ir_exit(ir, 0);
}

struct ir *gen_dispatcher(struct arena *arena)
{
	struct ir *ir = ir_new(arena);

	go_on(ir, ir_context(ir), 0);
	return ir;
}

struct ir *gen_program(const struct phys_set *set, const struct hook *hook, struct arena *arena,
		       struct buf *constants)
{
	struct gen gen = { .arena = arena,
			   .set = set,
			   .hook = hook,
			   .kind = &gen_kinds[hook->path],
			   .constants = constants };
	struct gen *g = &gen;
	u32 next = set->is_changing ? hook->place + 1 : CHAIN_PLACES;
	label out;

	g->ir = ir_new(arena);
	g->context = ir_context(g->ir);
	out = ir_label(g->ir);
	g->busy = ir_label(g->ir);
	ir_note(g->ir, "%s", hook->target);
	take_uses(g, out);
	ir_place(g->ir, out);
	go_on(g->ir, g->context, next);
	if (g->line) {
		ir_place(g->ir, g->busy);
		gen_busy(g);
		go_on(g->ir, g->context, next);
	}
	return g->ir;
}
