/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Columns: fields of the event by access path, members of kernel structs, and
 * system columns, which a replayed event carries in its header.
 */
#include <strings.h>

#include "gen/internal.h"

/* In a syscalls:sys_enter record the arguments follow 16 bytes of header, 8 bytes each. */
#define SYSCALL_ARGUMENTS_OFFSET 16
#define SYSCALL_NR_OFFSET	 8

static const struct field *field_in(const struct stream *s, const char *name)
{
	for (u32 i = 0; i < s->n_fields; i++)
		if (strcasecmp(s->fields[i].name, name) == 0)
			return &s->fields[i];
	BUG("stream %s lost its field %s", s->name, name);
}

const struct field *gen_field_of(const struct gen *g, const struct expr *e)
{
	return field_in(e->source == RAW_SOURCE ? g->hook->raw : g->use->streams[0], e->name);
}

const struct expr *gen_raw_of(const struct gen *g, const struct expr *e)
{
	for (u32 i = 0; e->source != RAW_SOURCE && i < g->hook->n_fields; i++)
		if (strcasecmp(g->hook->fields[i].name, e->name) == 0)
			return g->hook->fields[i].expr;
	return NULL;
}

enum ir_size gen_size_of(struct type type)
{
	switch (type.bits) {
	case 8:
		return type.is_signed ? IR_S8 : IR_U8;
	case 16:
		return type.is_signed ? IR_S16 : IR_U16;
	case 32:
		return type.is_signed ? IR_S32 : IR_U32;
	default:
		return IR_U64;
	}
}

static vreg load_argument(struct gen *g, u32 argument, struct type type)
{
	const struct arch *arch = g->set->arch;

	BUG_ON(argument >= ARRAY_SIZE(arch->call_arguments));
	return gen_register(g, arch->call_arguments[argument], gen_size_of(type));
}

static u32 argument_of(const struct field *f)
{
	return (f->offset_bytes - SYSCALL_ARGUMENTS_OFFSET) / 8;
}

/*
 * One program for many system calls, which have the column at different places
 * (mkdir's mode is the second argument, mkdirat's the third): a table tells where.
 */
static vreg argument_by_call(struct gen *g, const struct expr *e)
{
	struct ir *ir = g->ir;
	u8 *table = arena_array(g->arena, u8, syscall_count());
	vreg place, v = ir_reg(ir);
	u32 at, left = 0;
	label end = ir_label(ir);

	for (u32 i = 0; i < g->use->n_streams; i++) {
		u32 argument = argument_of(field_in(g->use->streams[i], e->name));

		table[g->use->streams[i]->syscall_nr] = (u8)argument;
		left |= 1u << argument;
	}
	at = gen_constant_table(g, table, (size_t)syscall_count());
	place = gen_load(g, gen_table_address(g, at, g->number), 0, IR_U8);
	for (u32 argument = 0; left; argument++) {
		label next = ir_label(ir);

		if (!(left & 1u << argument))
			continue;
		left &= ~(1u << argument);
		if (left)
			ir_branchi(ir, IR_NE, place, argument, next);
		ir_mov(ir, v, load_argument(g, argument, e->type));
		if (left)
			ir_jump(ir, end);
		ir_place(ir, next);
	}
	ir_place(ir, end);
	return v;
}

static vreg call_field(struct gen *g, const struct expr *e, const struct field *f)
{
	if (f->offset_bytes == SYSCALL_NR_OFFSET)
		return g->number ? g->number : gen_imm(g, g->use->streams[0]->syscall_nr);
	if (g->hook->is_exit)
		return gen_load(g, g->context, 8, IR_U64);
	for (u32 i = 1; i < g->use->n_streams; i++)
		if (field_in(g->use->streams[i], e->name)->offset_bytes != f->offset_bytes)
			return argument_by_call(g, e);
	return load_argument(g, argument_of(f), f->type);
}

static vreg argument_field(struct gen *g, const struct expr *e, const struct field *f)
{
	vreg v = gen_load(g, g->context, f->offset_bytes, IR_U64);

	if (f->type.bits < 64)
		ir_extend(g->ir, v, v, gen_size_of(f->type));
	return v;
}

static vreg record_field(struct gen *g, const struct expr *e, const struct field *f)
{
	return gen_load(g, g->context, (u32)gen_record_offset(g) + f->offset_bytes,
			gen_size_of(f->type));
}

static vreg register_field(struct gen *g, const struct expr *e, const struct field *f)
{
	const struct arch *arch = g->set->arch;
	u32 argument = f->offset_bytes / 8;
	vreg v;

	if (f->kind == FIELD_RET) {
		v = gen_load(g, g->context, arch->result, IR_U64);
	} else if (argument < arch->n_arguments) {
		v = gen_load(g, g->context, arch->arguments[argument], IR_U64);
	} else { /* At the entry: behind the address to return to, where that is there. */
		v = gen_load(g, g->context, arch->stack, IR_U64);
		ir_alui(g->ir, IR_ADD, v, v,
			8 * (argument - arch->n_arguments) + arch->return_bytes);
		v = gen_probe_load(g, v, IR_U64);
	}
	if (f->type.bits < 64)
		ir_extend(g->ir, v, v, gen_size_of(f->type));
	return v;
}

/* Where the stack ended at the entry.  A return has taken the address to return to off it. */
static vreg register_frame(struct gen *g)
{
	const struct arch *arch = g->set->arch;
	vreg stack = gen_load(g, g->context, arch->stack, IR_U64);

	if (g->hook->is_exit && arch->return_bytes)
		ir_alui(g->ir, IR_SUB, stack, stack, arch->return_bytes);
	return stack;
}

/*
 * The programs at the entry and at the return are called by one trampoline, with the same context
 * on its stack.  As a number: two pointers may be subtracted (allow_ptr_leaks, CAP_PERFMON).
 */
static vreg trampoline_frame(struct gen *g)
{
	vreg fixed = ir_reg(g->ir);

	ir_map_value(g->ir, fixed, LOAD_MAP_SLOTS, 0);
	return gen_alu(g, IR_SUB, g->context, fixed);
}

static vreg sample_field(struct gen *g, const struct expr *e, const struct field *f)
{
	vreg v = gen_load(g, g->context, f->offset_bytes, IR_U64);

	if (f->kind == FIELD_USER_MODE) {
		/* 1 where it is the same: only 0 less 1 is below 0. */
		v = gen_alui(g, IR_AND, v, g->set->arch->mode_mask);
		ir_alui(g->ir, IR_XOR, v, v, g->set->arch->user_mode);
		ir_alui(g->ir, IR_SUB, v, v, 1);
		ir_alui(g->ir, IR_SHR, v, v, 63);
	}
	return v;
}

/* Where what an iterator is called with begins, behind struct bpf_iter_meta *. */
#define OBJECT_BYTES 8

/* It is there; the verifier wants to see that. */
static vreg visited_task(struct gen *g)
{
	vreg task = gen_load(g, g->context, OBJECT_BYTES, IR_U64);

	ir_branchi(g->ir, IR_EQ, task, 0, g->done);
	return task;
}

void gen_list_begin(struct gen *g, label out)
{
	ir_branchi(g->ir, IR_EQ, gen_load(g, g->context, OBJECT_BYTES, IR_U64), 0, out);
}

const struct gen_kind gen_kinds[] = {
	[ACCESS_TRACEPOINT] = { .field = record_field },
	[ACCESS_RAW] = { .field = argument_field, .n_own_frames = 2 },
	[ACCESS_RAW_SYSCALL] = { .field = call_field, .n_own_frames = 2 },
	[ACCESS_CALL] = { .field = call_field, .n_own_frames = 2 },
	[ACCESS_TRAMPOLINE] = { .field = argument_field,
				.frame = trampoline_frame,
				.n_own_frames = 2,
				.has_typed_fields = true },
	[ACCESS_KPROBE] = { .field = register_field, .frame = register_frame },
	[ACCESS_KPROBE_MULTI] = { .field = register_field, .frame = register_frame },
	[ACCESS_UPROBE] = { .field = register_field, .frame = register_frame },
	[ACCESS_UPROBE_MULTI] = { .field = register_field, .frame = register_frame },
	[ACCESS_SAMPLE] = { .field = sample_field, .is_sample = true },
	[ACCESS_ITERATOR] = { .field = argument_field,
			      .has_typed_fields = true,
			      .is_list = true,
			      .task = visited_task },
	[ACCESS_REPLAY] = { .field = record_field, .has_header = true },
};
_Static_assert(ARRAY_SIZE(gen_kinds) == ACCESS_N, "an access path has no entry");

/* An argument as a number: the verifier allows no arithmetic with a typed pointer. */
static vreg untyped_argument(struct gen *g, const struct expr *e)
{
	return gen_probe_load(g, gen_alui(g, IR_ADD, g->context, gen_field_of(g, e)->offset_bytes),
			      IR_U64);
}

/* Of a user probe: where its note says.  NULL, a fault: it is in memory that is not there. */
static vreg operand_field(struct gen *g, const struct field *f, label null)
{
	const struct user_operand *o = f->operand;
	u32 bits = o->kind == OPERAND_VALUE ? MIN(o->bits, o->type.bits) : o->type.bits;
	enum ir_size size = gen_size_of(type_int((u8)bits, o->type.is_signed));
	bool has_base = o->base != OPERAND_NO_REGISTER;
	vreg v = has_base ? gen_load(g, g->context, o->base, IR_U64) : gen_imm(g, (s64)o->value);

	if (has_base && o->value)
		v = gen_alui(g, IR_ADD, v, (s64)o->value);
	if (o->index != OPERAND_NO_REGISTER) {
		vreg index = gen_load(g, g->context, o->index, IR_U64);

		if (o->index_bits == 32)
			ir_extend(g->ir, index, index, o->index_is_signed ? IR_S32 : IR_U32);
		v = gen_alu(g, IR_ADD, v, gen_alui(g, IR_SHL, index, o->index_shift));
	}
	if (o->kind == OPERAND_MEMORY) {
		stack_object copy = gen_scratch(g);
		vreg failed = gen_probe_read(g, BPF_FUNC_probe_read_user, copy, bits / 8, v);

		gen_requirei(g, IR_EQ, failed, 0, null);
		return gen_stack_load(g, copy, 0, size);
	}
	if (o->shift)
		v = gen_alui(g, IR_SHR, v, o->shift);
	if (bits < 64)
		ir_extend(g->ir, v, v, size);
	return v;
}

vreg gen_field(struct gen *g, const struct expr *e, label null)
{
	const struct expr *raw = gen_raw_of(g, e);
	vreg v;

	if (!raw && !g->kind->has_header && gen_field_of(g, e)->operand)
		return operand_field(g, gen_field_of(g, e), null);

	if (!raw && g->kind->has_typed_fields && e->type.kind == TYPE_POINTER)
		return untyped_argument(g, e);
	if (!raw)
		return g->kind->field(g, e, gen_field_of(g, e));
	if (raw->kind == EXPR_FIELD && raw->type.kind == TYPE_POINTER)
		return untyped_argument(g, raw);
	v = gen_value(g, raw, g->done);
	if (gen_is_computed(raw)) {
		/* Loaded anew at each mention: were it a register, what is tested there would be
		 * several ways for the verifier behind each. */
		stack_object copy = ir_stack(g->ir, 8);

		gen_store_unknown(g, copy, v);
		vec_push(g->arena, &g->memos, (struct memo){ .expr = e, .object = copy });
		v = gen_stack_load(g, copy, 0, gen_size_of(e->type));
	}
	return v;
}

/* --- Members of kernel structs --- */

bool gen_is_trusted(const struct gen *g, const struct expr *e)
{
	for (; e->kind == EXPR_MEMBER; e = e->args[0])
		if (e->read == READ_FILE)
			return false;
	return g->hook->is_typed && e->kind == EXPR_FIELD && e->source == RAW_SOURCE;
}

/* The field whose element it is, of an array in the record; NULL: of none. */
static const struct field *array_of(const struct gen *g, const struct expr *e)
{
	const struct expr *base = e->args[0];
	const struct field *f = base->kind == EXPR_FIELD ? gen_field_of(g, base) : NULL;

	return f && f->n_elements && e->read == READ_ELEMENT ? f : NULL;
}

/* How far behind its array's first element a computed one is; beyond the last: NULL, no fault. */
static vreg element_offset(struct gen *g, const struct expr *e, label null)
{
	vreg index = gen_value(g, e->args[1], null);

	if (e->index)
		ir_branchi(g->ir, IR_GE, index, e->index, null);
	return gen_alui(g, IR_MUL, index, e->member.size_bytes);
}

vreg gen_address(struct gen *g, const struct expr *e, label null)
{
	return expr_is_place(e) ? gen_member_address(g, e, null) : gen_value(g, e, null);
}

vreg gen_member_address(struct gen *g, const struct expr *e, label null)
{
	const struct expr *base = e->args[0];
	const struct field *array = array_of(g, e);
	s64 offset = (s64)e->member.offset_bits / 8;
	vreg at = e->n_args > 1 ? element_offset(g, e, null) : 0, from;

	if (array)
		offset += gen_record_offset(g) + (s64)array->offset_bytes;
	from = array ? g->context : gen_address(g, base, null);
	if (e->n_args > 1)
		return gen_alu(g, IR_ADD, gen_alui(g, IR_ADD, at, offset), from);
	return gen_alui(g, IR_ADD, from, offset);
}

enum bpf_func_id gen_member_helper(const struct expr *e)
{
	return e->is_of_user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel;
}

bool gen_member_direct(struct gen *g, const struct expr *e, vreg *ret_base, u32 *ret_offset_bytes)
{
	const struct expr *base = e->args[0];

	if (array_of(g, e) && e->n_args == 1) {
		*ret_offset_bytes = (u32)gen_record_offset(g) + array_of(g, e)->offset_bytes +
				    (u32)(e->member.offset_bits / 8);
		*ret_base = g->context;
		return true;
	}
	*ret_offset_bytes = (u32)(e->member.offset_bits / 8);
	for (; expr_is_place(base); base = base->args[0])
		*ret_offset_bytes += (u32)(base->member.offset_bits / 8);
	if (!gen_is_trusted(g, base) || base->kind != EXPR_FIELD || e->type.kind == TYPE_POINTER ||
	    g->kind->has_typed_fields)
		return false;
	*ret_base = gen_value(g, base, g->done);
	return true;
}

/* So many bits of a word. */
static vreg bits_of(struct gen *g, const struct expr *e, vreg word, u32 offset_bits, u32 bits)
{
	vreg v;

	if (bits == 64)
		return word;
	v = gen_alui(g, IR_SHL, word, 64 - offset_bits - bits);
	ir_alui(g->ir, e->type.is_signed ? IR_SAR : IR_SHR, v, v, 64 - bits);
	return v;
}

/* The member where it was read to, so many bits behind the beginning. */
static vreg member_in(struct gen *g, const struct expr *e, stack_object copy, u32 offset_bits)
{
	u32 bits = e->member.bitfield_bits;

	if (!bits)
		return gen_stack_load(g, copy, offset_bits / 8, gen_size_of(e->type));
	return bits_of(g, e, gen_stack_load(g, copy, offset_bits / 64 * 8, IR_U64),
		       offset_bits % 64, bits);
}

static vreg read_at(struct gen *g, const struct expr *e, vreg address, label null)
{
	u32 shift = (u32)(e->member.offset_bits % 8), bits = e->member.bitfield_bits;
	u32 bytes = bits ? (shift + bits + 7) / 8 : e->member.size_bytes;
	stack_object copy = gen_scratch(g);
	vreg failed;

	BUG_ON(bytes > 8);
	failed = gen_probe_read(g, gen_member_helper(e), copy, bytes, address);
	if (!gen_is_trusted(g, e))
		gen_requirei(g, IR_EQ, failed, 0, null);
	return member_in(g, e, copy, shift);
}

static vreg read_alone(struct gen *g, const struct expr *e, label null)
{
	return read_at(g, e, gen_member_address(g, e, null), null);
}

/* --- Typed loads --- */

/* Where a member of the kernel's memory is loaded: in a word behind the object. */
struct loaded {
	const struct expr *object;
	u32 word_bytes, offset_bits, bits; /* of the word from the object on; in the word */
};

static bool find_loaded(const struct gen *g, const struct expr *e, struct loaded *ret)
{
	u64 offset_bits;

	if (!gen_has_loads(g) || e->kind != EXPR_MEMBER || e->n_args > 1 || e->is_of_user ||
	    (e->read != READ_MEMBER && e->read != READ_ELEMENT) || e->is_percpu || array_of(g, e))
		return false;
	ret->object = expr_object(e, &offset_bits);
	ret->word_bytes = (u32)(offset_bits / 64 * 8);
	ret->offset_bits = offset_bits % 64;
	ret->bits = e->member.bitfield_bits ?: 8 * (u32)e->member.size_bytes;
	return offset_bits < 8ull * INT32_MAX && ret->offset_bits + ret->bits <= 64;
}

/*
 * A pointer that is 0, or could not be read, points to nothing that can be: a helper need not say
 * which.
 */
static vreg word_at(struct gen *g, const struct loaded *l, label null)
{
	const struct expr *object = l->object;
	struct loaded pointer;
	vreg at;

	if (object->type.kind == TYPE_POINTER && find_loaded(g, object, &pointer))
		at = gen_load_word(g, word_at(g, &pointer, null));
	else
		at = gen_address(g, object, null);
	return gen_alui(g, IR_ADD, at, l->word_bytes);
}

vreg gen_pointer(struct gen *g, const struct expr *e, label null)
{
	stack_object pointer;
	struct loaded l;

	if (find_loaded(g, e, &l) && l.bits == 64)
		return gen_load_word(g, word_at(g, &l, null));
	pointer = gen_scratch(g);
	gen_probe_read(g, gen_member_helper(e), pointer, 8, gen_member_address(g, e, null));
	return gen_stack_load(g, pointer, 0, IR_U64);
}

/* A load that fails gives 0: what is not 0 stands there. */
static vreg load_member(struct gen *g, const struct expr *e, const struct loaded *l, label null)
{
	vreg at = word_at(g, l, null), word = gen_load_word(g, at), v = ir_reg(g->ir);
	label end = ir_label(g->ir);
	u32 fork = gen_fork(g);

	ir_mov(g->ir, v, bits_of(g, e, word, l->offset_bits, l->bits));
	if (gen_is_trusted(g, e))
		return v;
	ir_branchi(g->ir, IR_NE, word, 0, end);
	ir_mov(g->ir, v, read_at(g, e, gen_alui(g, IR_ADD, at, l->offset_bits / 8), null));
	gen_join(g, fork);
	ir_place(g->ir, end);
	return v;
}
/* What the member is read with, and where in it it stands; NULL: it is read by itself. */
static const struct expr *reading_of(const struct gen *g, const struct expr *e,
				     u32 *ret_offset_bits)
{
	const struct plan_scan *scan = &g->source->scan->scan;
	u64 offset_bits;
	struct expr *object = expr_object(e, &offset_bits);

	if (gen_has_loads(g) && !e->is_of_user)
		return NULL;
	for (u32 i = 0; i < scan->n_readings; i++) {
		const struct expr *r = scan->readings[i];

		if (!expr_is_read_by(e, object, offset_bits, r))
			continue;
		*ret_offset_bits = (u32)(offset_bits - r->member.offset_bits);
		return r;
	}
	return NULL;
}

static struct memo read_once(struct gen *g, const struct expr *reading)
{
	struct memo m = { .expr = reading };

	for (u32 i = 0; i < g->memos.n; i++)
		if (expr_equal(g->memos.at[i].expr, reading))
			return g->memos.at[i];
	m.object = ir_stack(g->ir, reading->index);
	m.reg = gen_probe_read(g, gen_member_helper(reading), m.object, reading->index,
			       gen_member_address(g, reading, g->done));
	vec_push(g->arena, &g->memos, m);
	return m;
}

void gen_read_together(struct gen *g, const struct expr *e)
{
	const struct expr *reading;
	u32 offset_bits;

	if (e->kind != EXPR_MEMBER)
		return;
	reading = reading_of(g, e, &offset_bits);
	if (reading)
		read_once(g, reading);
}

/* A page that is not there may be that of another member: then this one is read by itself. */
static vreg read_together(struct gen *g, const struct expr *e, const struct expr *reading,
			  u32 offset_bits, label null)
{
	struct memo m = read_once(g, reading);
	label alone = ir_label(g->ir), end = ir_label(g->ir);
	u32 fork = gen_fork(g);
	vreg v = ir_reg(g->ir);

	ir_branchi(g->ir, IR_NE, m.reg, 0, alone);
	ir_mov(g->ir, v, member_in(g, e, m.object, offset_bits));
	ir_jump(g->ir, end);
	ir_place(g->ir, alone);
	ir_cold(g->ir, true);
	ir_mov(g->ir, v, read_alone(g, e, null));
	ir_cold(g->ir, false);
	gen_join(g, fork);
	ir_place(g->ir, end);
	return v;
}

vreg gen_member(struct gen *g, const struct expr *e, label null)
{
	const struct expr *reading;
	struct loaded loaded;
	vreg address;
	u32 offset;

	if (e->read == READ_POINTER)
		return gen_member_address(g, e, null);
	if (e->read == READ_FILE)
		return gen_file(g, e, null);
	if (e->is_percpu)
		return gen_percpu_sum(g, gen_member_address(g, e, null));
	if (gen_member_direct(g, e, &address, &offset))
		return gen_load(g, address, offset, gen_size_of(e->type));
	if (find_loaded(g, e, &loaded))
		return load_member(g, e, &loaded, null);
	reading = reading_of(g, e, &offset);
	return reading ? read_together(g, e, reading, offset, null) : read_alone(g, e, null);
}

/* --- System columns --- */

/* Results of helpers that serve two columns (pid and tid, uid and gid), or all uses. */
static const struct {
	enum bpf_func_id helper;
	struct expr key; /* of its memo */
} once_helpers[] = {
	[ONCE_TIME] = { BPF_FUNC_ktime_get_ns, { .kind = EXPR_SYSTEM, .index = 99 } },
	[ONCE_PID_TGID] = { BPF_FUNC_get_current_pid_tgid, { .kind = EXPR_SYSTEM, .index = 100 } },
	[ONCE_UID_GID] = { BPF_FUNC_get_current_uid_gid, { .kind = EXPR_SYSTEM, .index = 101 } },
};
_Static_assert(ARRAY_SIZE(once_helpers) == ONCE_COMM, "a helper is missing");

/*
 * Another use of the event may have called it, on some ways to here: then it is not 0.  (A
 * result that is 0 is asked for again.)
 */
static vreg helper_once(struct gen *g, enum once once)
{
	const struct expr *key = &once_helpers[once].key;
	label known = ir_label(g->ir);
	vreg v = g->once[once];

	for (u32 i = 0; i < g->memos.n; i++)
		if (g->memos.at[i].expr == key)
			return g->memos.at[i].reg;
	if (v)
		ir_branchi(g->ir, IR_NE, v, 0, known);
	else
		v = ir_reg(g->ir);
	ir_call(g->ir, v, once_helpers[once].helper, 0, NULL);
	ir_place(g->ir, known);
	vec_push(g->arena, &g->memos, (struct memo){ .expr = key, .reg = v });
	return v;
}

void gen_once_begin(struct gen *g)
{
	for (u32 i = 0; i < ONCE_N; i++)
		g->once[i] = gen_imm(g, 0);
}

static vreg low_half(struct gen *g, vreg from)
{
	vreg v = ir_reg(g->ir);

	ir_extend(g->ir, v, from, IR_U32);
	return v;
}

/* current->real_parent->tgid; task_struct is always there, so no read can fail. */
static vreg parent_pid(struct gen *g)
{
	vreg task = gen_helper(g, BPF_FUNC_get_current_task);
	vreg at = gen_alui(g, IR_ADD, task, g->phys->pids.real_parent);
	vreg parent = gen_probe_load(g, at, IR_U64);

	return gen_probe_load(g, gen_alui(g, IR_ADD, parent, g->phys->pids.tgid), IR_U32);
}

static const struct expr *time_of(struct gen *g)
{
	struct expr *time = expr_new(g->arena, EXPR_SYSTEM, (struct span){ 0, 0 });

	time->index = SYS_TIME;
	time->source = g->source->number;
	time->type = system_columns[SYS_TIME].type;
	return time;
}

vreg gen_time(struct gen *g)
{
	return gen_value(g, time_of(g), g->done);
}

/* What load/functions.c attached it with (helper since 5.15). */
static vreg cookie(struct gen *g)
{
	vreg v = ir_reg(g->ir);

	ir_call(g->ir, v, BPF_FUNC_get_attach_cookie, 1, &g->context);
	return v;
}

/* Which of a wildcard's names it is. */
static vreg attached_to(struct gen *g)
{
	vreg v = g->hook->places ? low_half(g, cookie(g)) : cookie(g);

	ir_branchi(g->ir, IR_GE, v, g->hook->n_names, g->done);
	return v;
}

vreg gen_system(struct gen *g, const struct expr *e, label null)
{
	if (e->index == SYS_PROBE && g->hook->n_names)
		return gen_alui(g, IR_ADD, attached_to(g), g->use->first_probe);
	if (e->index == SYS_PROBE)
		return g->probe ? g->probe : gen_imm(g, g->use->first_probe);
	if (e->index == SYS_CPU)
		return g->cpu ? g->cpu : gen_current_cpu(g);
	if (g->kind->has_header)
		return gen_replay_column(g, e->index);
	if (expr_is_stack(e))
		return gen_stack(g, e);
	if (e->index == SYS_TREE)
		return gen_is_below(g, e, null);
	if (e->pid_ns)
		return gen_pid_in_ns(g, e, null);
	switch (e->index) {
	case SYS_TIME:
		return helper_once(g, ONCE_TIME);
	case SYS_PID:
		return gen_alui(g, IR_SHR, helper_once(g, ONCE_PID_TGID), 32);
	case SYS_TID:
		return low_half(g, helper_once(g, ONCE_PID_TGID));
	case SYS_UID:
		return low_half(g, helper_once(g, ONCE_UID_GID));
	case SYS_GID:
		return gen_alui(g, IR_SHR, helper_once(g, ONCE_UID_GID), 32);
	case SYS_PPID:
		return parent_pid(g);
	case SYS_TASK:
		return gen_helper(g, BPF_FUNC_get_current_task);
	case SYS_FRAME:
		return g->hook->hides_frame ? gen_imm(g, 0) : g->kind->frame(g);
	case SYS_FUNCTION:
		if (g->hook->places)
			return g->hook->n_places > 1 ? gen_alui(g, IR_SHR, cookie(g), 32)
						     : gen_imm(g, 0);
		return g->hook->n_names ? attached_to(g) : gen_imm(g, 0);
	case SYS_CGROUP:
		return gen_helper(g, BPF_FUNC_get_current_cgroup_id);
	case SYS_NUMA_NODE:
		return gen_helper(g, BPF_FUNC_get_numa_node_id);
	default:
		BUG("system column %u has no number", e->index);
	}
}
