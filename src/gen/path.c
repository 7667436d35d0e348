/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * file_path(x): a file's path, as /proc/PID/fd shows it, from its own name up to the root of the
 * process that is current, through the mounts.  It is written from its end towards the front of
 * a place twice as large, so that what the verifier may think a name to take is there, and is
 * then brought to the front.
 *
 * The steps are no loop, and how far the text has come is forgotten ahead of each: the verifier
 * then walks each of them once.
 */
#include <linux/magic.h>

#include "gen/internal.h"

/* Directories and mounts; a path of more is cut. */
#define PATH_STEPS 32
/* More than an inode's number has: sockets, pipes and their like are numbered in 32 bits. */
#define DIGITS	  10
#define NAME_MASK 255

#define PID_FS_MAGIC_VALUE 0x50494446 /* kernel 6.9 */

static const char more[] = { '.', '.', '.' };
static const char deleted[] = { ' ', '(', 'd', 'e', 'l', 'e', 't', 'e', 'd', ')' };

struct path {
	const struct file_offsets *of;
	stack_object text, scratch;
	u32 end, front; /* where the text ends, and begins at best */
	bool has_mounts;
	vreg at; /* where it begins so far */
	vreg dentry, mount, mount_root, root_dentry, root_mount;
	label done, is_cut, failed;
};

static vreg member(struct gen *g, vreg object, u32 offset_bytes)
{
	return gen_probe_load(g, gen_alui(g, IR_ADD, object, offset_bytes), IR_U64);
}

/* A pointer that is always one. */
static vreg pointer(struct gen *g, const struct path *p, vreg object, u32 offset_bytes)
{
	vreg v = member(g, object, offset_bytes);

	ir_branchi(g->ir, IR_EQ, v, 0, p->failed);
	return v;
}

static vreg address_of(struct gen *g, const struct path *p, vreg at)
{
	vreg to = ir_reg(g->ir);

	ir_stack_address(g->ir, to, p->text, 0);
	return gen_alu(g, IR_ADD, to, at);
}

/* What the verifier knows of it is the same after all ways: somewhere in the first half. */
static void forget(struct gen *g, const struct path *p)
{
	gen_store_unknown(g, p->scratch, p->at);
	ir_stack_load(g->ir, p->at, p->scratch, 0, IR_U64);
	ir_branchi(g->ir, IR_GT, p->at, p->end, p->is_cut);
}

/* So many characters in front, where there is room for all of them. */
static void put(struct gen *g, const struct path *p, const char *text, u32 n)
{
	vreg to;

	ir_branchi(g->ir, IR_LT, p->at, p->front + n, p->is_cut);
	ir_alui(g->ir, IR_SUB, p->at, p->at, n);
	to = address_of(g, p, p->at);
	for (u32 i = 0; i < n; i++)
		ir_storei(g->ir, to, (s32)i, IR_U8, text[i]);
}

/* The name of the dentry in front, or so much of its end as there is room for. */
static void put_name(struct gen *g, const struct path *p)
{
	vreg n = gen_probe_load(g, gen_alui(g, IR_ADD, p->dentry, p->of->name_length), IR_U32);
	vreg name = pointer(g, p, p->dentry, p->of->name), room, args[3], failed = ir_reg(g->ir);
	label fits = ir_label(g->ir);

	ir_alui(g->ir, IR_AND, n, n, NAME_MASK);
	room = gen_alui(g, IR_SUB, p->at, p->front);
	ir_branch(g->ir, IR_LE, n, room, fits);
	ir_alu(g->ir, IR_ADD, name, name, n);
	ir_alu(g->ir, IR_SUB, name, name, room);
	ir_mov(g->ir, n, room);
	ir_place(g->ir, fits);
	/* Never taken: older verifiers (6.1) do not learn of two numbers that are compared. */
	ir_branchi(g->ir, IR_GT, n, p->end - p->front, p->is_cut);
	ir_alu(g->ir, IR_SUB, p->at, p->at, n);
	ir_branchi(g->ir, IR_GT, p->at, p->end, p->is_cut);
	args[0] = address_of(g, p, p->at);
	args[1] = n;
	args[2] = name;
	ir_call(g->ir, failed, BPF_FUNC_probe_read_kernel, 3, args);
	ir_branchi(g->ir, IR_NE, failed, 0, p->failed);
}

/* --- Files without a path --- */

/* What /proc/PID/fd calls them, by their file system's number: with the inode's, or the name. */
static const struct pseudo {
	u32 magic;
	const char *before;
	bool has_inode, has_name;
} pseudos[] = {
	{ SOCKFS_MAGIC, "socket:[", .has_inode = true },
	{ PIPEFS_MAGIC, "pipe:[", .has_inode = true },
	{ ANON_INODE_FS_MAGIC, "anon_inode:", .has_name = true },
	{ PID_FS_MAGIC_VALUE, "anon_inode:[pidfd]" },
};

static void put_number(struct gen *g, const struct path *p, vreg v)
{
	label end = ir_label(g->ir);

	for (u32 i = 0; i < DIGITS; i++) {
		vreg digit = gen_alui(g, IR_ADD, gen_alui(g, IR_MOD, v, 10), '0');

		ir_stack_store(g->ir, p->text, p->end - 2 - i, IR_U8, digit);
		ir_imm(g->ir, p->at, p->end - 2 - i);
		ir_alui(g->ir, IR_DIV, v, v, 10);
		ir_branchi(g->ir, IR_EQ, v, 0, end);
	}
	ir_place(g->ir, end);
	forget(g, p);
}

/* The file system's own, which stands in no directory; what has another name there is NULL. */
static void put_pseudo(struct gen *g, const struct path *p, label null)
{
	vreg magic = member(g, pointer(g, p, p->dentry, p->of->super_block), p->of->magic);

	for (u32 i = 0; i < ARRAY_SIZE(pseudos); i++) {
		const struct pseudo *of = &pseudos[i];
		label other = ir_label(g->ir);

		ir_branchi(g->ir, IR_NE, magic, of->magic, other);
		if (of->has_inode) {
			vreg inode = pointer(g, p, p->dentry, p->of->inode);

			ir_stack_storei(g->ir, p->text, p->end - 1, IR_U8, ']');
			put_number(g, p, member(g, inode, p->of->inode_number));
		}
		if (of->has_name) {
			put_name(g, p);
			forget(g, p);
		}
		put(g, p, of->before, (u32)strlen(of->before));
		ir_jump(g->ir, p->done);
		ir_place(g->ir, other);
	}
	/* Memory as a file: memfd_create(), shared mappings without one. */
	ir_branchi(g->ir, IR_NE, magic, TMPFS_MAGIC, null);
	put(g, p, deleted, sizeof(deleted));
	put_name(g, p);
	forget(g, p);
	put(g, p, "/", 1);
	ir_jump(g->ir, p->done);
}

/* --- Steps --- */

static void begin(struct gen *g, const struct expr *e, struct path *p, label null)
{
	label is_named = ir_label(g->ir), is_there = ir_label(g->ir);
	vreg parent;

	ir_mov(g->ir, p->dentry, gen_address(g, e->args[0], null));
	if (p->has_mounts) {
		ir_mov(g->ir, p->mount, gen_address(g, e->args[1], null));
		ir_mov(g->ir, p->root_dentry, gen_address(g, e->args[2], null));
		ir_mov(g->ir, p->root_mount, gen_address(g, e->args[3], null));
		ir_mov(g->ir, p->mount_root, member(g, p->mount, p->of->mount_root));
	}
	parent = pointer(g, p, p->dentry, p->of->parent);
	ir_branch(g->ir, IR_NE, parent, p->dentry, is_named);
	if (p->has_mounts) {
		ir_branch(g->ir, IR_EQ, p->dentry, p->mount_root, is_there);
		put_pseudo(g, p, null);
	} else {
		ir_jump(g->ir, is_there);
	}
	ir_place(g->ir, is_named);
	ir_branchi(g->ir, IR_NE, member(g, p->dentry, p->of->hashed), 0, is_there);
	put(g, p, deleted, sizeof(deleted));
	ir_place(g->ir, is_there);
}

/* From the root of what is mounted to where that is; a mount that is its own parent is the last. */
static void cross(struct gen *g, const struct path *p)
{
	vreg mount = gen_alui(g, IR_SUB, p->mount, p->of->mount);
	vreg parent = pointer(g, p, mount, p->of->mount_parent);

	ir_branch(g->ir, IR_EQ, parent, mount, p->done);
	ir_mov(g->ir, p->dentry, pointer(g, p, mount, p->of->mountpoint));
	ir_mov(g->ir, p->mount, gen_alui(g, IR_ADD, parent, p->of->mount));
	ir_mov(g->ir, p->mount_root, pointer(g, p, p->mount, p->of->mount_root));
}

static void leave_at_root(struct gen *g, const struct path *p)
{
	label goes_on = ir_label(g->ir);

	if (!p->has_mounts)
		return;
	ir_branch(g->ir, IR_NE, p->dentry, p->root_dentry, goes_on);
	ir_branch(g->ir, IR_EQ, p->mount, p->root_mount, p->done);
	ir_place(g->ir, goes_on);
}

static void step(struct gen *g, const struct path *p)
{
	label within = ir_label(g->ir), next = ir_label(g->ir);
	vreg parent;

	forget(g, p);
	leave_at_root(g, p);
	if (p->has_mounts) {
		ir_branch(g->ir, IR_NE, p->dentry, p->mount_root, within);
		cross(g, p);
		ir_jump(g->ir, next);
		ir_place(g->ir, within);
	}
	parent = pointer(g, p, p->dentry, p->of->parent);
	ir_branch(g->ir, IR_EQ, parent, p->dentry, p->done);
	put_name(g, p);
	put(g, p, "/", 1);
	ir_mov(g->ir, p->dentry, parent);
	ir_place(g->ir, next);
}

/* What is left out says so, in place of what stands in front where there is no room. */
static void cut(struct gen *g, const struct path *p)
{
	label fits = ir_label(g->ir), end = ir_label(g->ir);
	vreg to;

	ir_branchi(g->ir, IR_GT, p->at, p->end, p->failed); /* never */
	ir_branchi(g->ir, IR_GE, p->at, p->front + sizeof(more), fits);
	ir_imm(g->ir, p->at, p->front);
	ir_jump(g->ir, end);
	ir_place(g->ir, fits);
	ir_alui(g->ir, IR_SUB, p->at, p->at, sizeof(more));
	ir_place(g->ir, end);
	to = address_of(g, p, p->at);
	for (u32 i = 0; i < sizeof(more); i++)
		ir_storei(g->ir, to, (s32)i, IR_U8, more[i]);
}

void gen_path(struct gen *g, const struct expr *e, stack_object text, label null)
{
	struct ir *ir = g->ir;
	u32 bytes = 8 * gen_text_words(e);
	struct path p = { .of = e->offsets,
			  .text = text,
			  .scratch = ir_stack(ir, 8),
			  .end = bytes,
			  .front = bytes - e->type.bytes,
			  .has_mounts = e->n_args > 1,
			  .at = gen_imm(g, bytes),
			  .dentry = ir_reg(ir),
			  .mount = ir_reg(ir),
			  .mount_root = ir_reg(ir),
			  .root_dentry = ir_reg(ir),
			  .root_mount = ir_reg(ir),
			  .done = ir_label(ir),
			  .is_cut = ir_label(ir),
			  .failed = ir_label(ir) };
	label is_whole = ir_label(ir);
	vreg args[3];

	gen_words_zero(g, text, 2 * gen_text_words(e));
	begin(g, e, &p, null);
	for (u32 i = 0; i < PATH_STEPS; i++)
		step(g, &p);
	leave_at_root(g, &p);
	ir_jump(ir, p.is_cut);
	ir_place(ir, p.failed);
	gen_count_fault(g);
	ir_jump(ir, null);
	ir_place(ir, p.is_cut);
	cut(g, &p);
	ir_jump(ir, is_whole);
	ir_place(ir, p.done);
	/* The root itself. */
	ir_branchi(ir, IR_NE, p.at, p.end, is_whole);
	put(g, &p, "/", 1);
	ir_place(ir, is_whole);
	ir_branchi(ir, IR_GT, p.at, p.end, p.failed); /* never */
	args[0] = ir_reg(ir);
	ir_stack_address(ir, args[0], text, 0);
	args[1] = gen_imm(g, bytes);
	args[2] = address_of(g, &p, p.at);
	ir_call(ir, 0, BPF_FUNC_probe_read_kernel, 3, args);
}
