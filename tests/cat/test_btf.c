/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The own BTF reader: against libbpf's on the live kernel, on a small blob that has
 * every kind of member, and on that blob cut and corrupted at every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cat/internal.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"

/* ---- a blob of our own ---- */

struct ids {
	int integer, character, boolean, word, inner, outer, forward, text, matrix, choice,
		signed64;
	int member_pointer, char_pointer, void_pointer, aliased, old;
};

/* struct btf and btf__...() are libbpf's, struct btf_blob and btf_...() are ours. */
static void add_scalars(struct btf *btf, struct ids *ids)
{
	ids->integer = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	ids->character = btf__add_int(btf, "char", 1, 0);
	ids->boolean = btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	ids->word = btf__add_int(btf, "long unsigned int", 8, 0);
	ids->choice = btf__add_enum(btf, "choice", 4);
	btf__add_enum_value(btf, "FIRST", 1);
	ids->signed64 = btf__add_enum64(btf, "wide_choice", 8, true);
	btf__add_enum64_value(btf, "NEGATIVE", (u64)-1);
	ids->forward = btf__add_fwd(btf, "opaque", BTF_FWD_STRUCT);
	ids->text = btf__add_array(btf, ids->integer, ids->character, 16);
	ids->matrix = btf__add_array(btf, ids->integer,
				     btf__add_array(btf, ids->integer, ids->word, 3), 2);
	ids->aliased = btf__add_typedef(
		btf, "alias_t",
		btf__add_const(btf, btf__add_volatile(
					    btf, btf__add_typedef(btf, "deeper_t", ids->integer))));
}

static void add_inner(struct btf *btf, struct ids *ids)
{
	ids->inner = btf__add_struct(btf, "inner", 16);
	btf__add_field(btf, "status", ids->integer, 32, 0);
	btf__add_field(btf, "low_bits", ids->integer, 64, 3);
	btf__add_field(btf, "high_bits", ids->integer, 67, 29);
	/* Without a bitfield's width in the struct: that is in the integer (old compilers). */
	ids->old = btf__add_struct(btf, "old", 8);
	btf__add_field(btf, "plain", ids->integer, 0, 0);
}

static void add_outer(struct btf *btf, struct ids *ids)
{
	int anonymous_struct, anonymous_union;
	int no_text = btf__add_array(btf, ids->integer, ids->character, 0);

	ids->member_pointer = btf__add_ptr(btf, ids->inner);
	ids->char_pointer = btf__add_ptr(btf, btf__add_const(btf, ids->character));
	ids->void_pointer = btf__add_ptr(btf, 0);
	anonymous_struct = btf__add_struct(btf, NULL, 16);
	btf__add_field(btf, "deep_first", ids->word, 0, 0);
	btf__add_field(btf, "deep_second", ids->aliased, 64, 0);
	anonymous_union = btf__add_union(btf, NULL, 16);
	btf__add_field(btf, "as_word", ids->word, 0, 0);
	btf__add_field(btf, NULL, anonymous_struct, 0, 0);
	ids->outer = btf__add_struct(btf, "outer", 256);
	btf__add_field(btf, "embedded", ids->inner, 0, 0);
	btf__add_field(btf, NULL, anonymous_union, 128, 0);
	btf__add_field(btf, "comm", ids->text, 256, 0);
	btf__add_field(btf, "matrix", ids->matrix, 384, 0);
	btf__add_field(btf, "on", ids->boolean, 768, 0);
	btf__add_field(btf, "choice", ids->choice, 800, 0);
	btf__add_field(btf, "wide", ids->signed64, 832, 0);
	btf__add_field(btf, "to_inner", ids->member_pointer, 896, 0);
	btf__add_field(btf, "name", ids->char_pointer, 960, 0);
	btf__add_field(btf, "anything", ids->void_pointer, 1024, 0);
	btf__add_field(btf, "rest", no_text, 1088, 0);
}

static struct btf *make_blob(struct ids *ids)
{
	struct btf *btf = btf__new_empty();

	add_scalars(btf, ids);
	add_inner(btf, ids);
	add_outer(btf, ids);
	return btf;
}

static void check_int(u64 have, u64 wanted, const char *what)
{
	if (have != wanted)
		fail_msg("%s: %llu, not %llu", what, (unsigned long long)have,
			 (unsigned long long)wanted);
}

struct expected {
	const char *path;
	u64 offset_bits;
	u32 size_bytes, bitfield_bits;
	struct type type;
	u32 n_elements;
};

/* A module's types: its numbers go on behind those of the other blob. */
static struct btf *make_split(struct btf *base, const struct ids *ids)
{
	struct btf *btf = btf__new_empty_split(base);
	int device, queue, pointer, proto;

	/* Its first name stands at the very begin of its names. */
	device = btf__add_struct(btf, "a_device", 40);
	btf__add_field(btf, "blocksize", ids->word, 64, 0);
	btf__add_field(btf, "embedded", ids->inner, 128, 0);
	pointer = btf__add_ptr(btf, device);
	queue = btf__add_struct(btf, "a_queue", 16);
	btf__add_field(btf, "device", pointer, 0, 0);
	btf__add_field(btf, "status", ids->integer, 64, 0);
	pointer = btf__add_ptr(btf, queue);
	proto = btf__add_func_proto(btf, ids->integer);
	btf__add_func_param(btf, "queue", pointer);
	btf__add_func_param(btf, "inner", ids->member_pointer);
	btf__add_func(btf, "a_request", BTF_FUNC_STATIC, proto);
	/* A name that the other blob has for something else. */
	btf__add_func(btf, "status", BTF_FUNC_STATIC, proto);
	return btf;
}

static void check_member(struct btf_blob *blob, u32 id, const struct expected *expected)
{
	struct catalog_member member;

	check_int(btf_find_member(blob, id, expected->path, NULL, &member), 0, expected->path);
	check_int(member.offset_bits, expected->offset_bits, expected->path);
	check_int(member.size_bytes, expected->size_bytes, expected->path);
	check_int(member.bitfield_bits, expected->bitfield_bits, expected->path);
	check_int(member.type.kind, expected->type.kind, expected->path);
	check_int(member.type.bits, expected->type.bits, expected->path);
	check_int(member.type.is_signed, expected->type.is_signed, expected->path);
	check_int(member.type.bytes, expected->type.bytes, expected->path);
	check_int(member.n_elements, expected->n_elements, expected->path);
}

#define INT32                                                                                      \
	{                                                                                          \
		TYPE_INT, 32, true                                                                 \
	}
#define U64                                                                                        \
	{                                                                                          \
		TYPE_INT, 64, false                                                                \
	}
#define POINTER                                                                                    \
	{                                                                                          \
		TYPE_POINTER, 64                                                                   \
	}

static const struct expected outer_members[] = {
	{ "embedded", 0, 16, 0, { TYPE_NULL }, 0 },
	{ "embedded.status", 32, 4, 0, INT32, 0 },
	{ "embedded.low_bits", 64, 4, 3, INT32, 0 },
	{ "embedded.high_bits", 67, 4, 29, INT32, 0 },
	{ "as_word", 128, 8, 0, U64, 0 },
	{ "deep_first", 128, 8, 0, U64, 0 },
	{ "deep_second", 192, 4, 0, INT32, 0 },
	{ "comm", 256, 16, 0, { TYPE_TEXT, .bytes = 16 }, 16 },
	{ "matrix", 384, 48, 0, { TYPE_NULL }, 2 },
	{ "on", 768, 1, 0, { TYPE_BOOL, 8 }, 0 },
	{ "choice", 800, 4, 0, { TYPE_INT, 32, false }, 0 },
	{ "wide", 832, 8, 0, { TYPE_INT, 64, true }, 0 },
	{ "to_inner", 896, 8, 0, POINTER, 0 },
	{ "name", 960, 8, 0, POINTER, 0 },
	{ "anything", 1024, 8, 0, POINTER, 0 },
	{ "rest", 1088, 0, 0, { TYPE_TEXT, .bytes = DYNAMIC_TEXT_BYTES }, 0 },
};

static void test_members(void **state)
{
	struct catalog_member member;
	struct btf_blob blob;
	struct suggest suggest;
	struct arena arena;
	struct ids ids;
	struct btf *made = make_blob(&ids);
	const void *data;
	u32 n;

	arena_init(&arena);
	data = btf__raw_data(made, &n);
	assert_int_equal(btf_init(&blob, &arena, NULL, data, n), 0);
	assert_int_equal(btf_find(&blob, BTF_KIND_STRUCT, "outer"), ids.outer);
	assert_int_equal(btf_find(&blob, BTF_KIND_UNION, "outer"), 0);
	assert_int_equal(btf_find(&blob, BTF_KIND_FWD, "opaque"), ids.forward);
	assert_int_equal(btf_find(&blob, BTF_KIND_STRUCT, "oute"), 0);
	assert_int_equal(btf_find(&blob, BTF_KIND_STRUCT, ""), 0);
	for (u32 i = 0; i < ARRAY_SIZE(outer_members); i++)
		check_member(&blob, ids.outer, &outer_members[i]);

	assert_int_equal(btf_find_member(&blob, ids.outer, "to_inner", NULL, &member), 0);
	assert_true(member.is_pointer && !member.is_char_pointer);
	assert_int_equal(member.pointee_btf_id, ids.inner);
	assert_int_equal(btf_find_member(&blob, ids.outer, "name", NULL, &member), 0);
	assert_true(member.is_pointer && member.is_char_pointer && !member.pointee_btf_id);
	assert_int_equal(btf_find_member(&blob, ids.outer, "anything", NULL, &member), 0);
	assert_true(member.is_pointer && !member.is_char_pointer && !member.pointee_btf_id);
	/* u64 matrix[2][3]: its elements are arrays, and theirs are numbers. */
	assert_int_equal(btf_find_member(&blob, ids.outer, "matrix", NULL, &member), 0);
	assert_true(member.is_array);
	assert_int_equal(btf_describe(&blob, member.element_btf_id, &member), 0);
	assert_true(member.is_array && member.n_elements == 3 && member.size_bytes == 24);
	assert_int_equal(btf_describe(&blob, member.element_btf_id, &member), 0);
	assert_true(!member.is_array && member.type.bits == 64 && member.size_bytes == 8);
	assert_int_equal(btf_find_member(&blob, ids.outer, "embedded", NULL, &member), 0);
	assert_int_equal(member.btf_type_id, ids.inner);

	assert_int_equal(btf_find_member(&blob, ids.outer, "deep_secnd", &suggest, &member),
			 -ENOENT);
	assert_string_equal(suggest_best(&suggest), "deep_second");
	assert_int_equal(btf_find_member(&blob, ids.outer, "embedded.staus", &suggest, &member),
			 -ENOENT);
	assert_string_equal(suggest_best(&suggest), "status");
	assert_int_equal(btf_find_member(&blob, ids.outer, "embeded.status", &suggest, &member),
			 -ENOENT);
	assert_string_equal(suggest_best(&suggest), "embedded");
	/* A pointer is not walked through here: that takes a read of the kernel's memory. */
	assert_int_equal(btf_find_member(&blob, ids.outer, "to_inner.status", NULL, &member),
			 -ENOENT);
	assert_int_equal(btf_find_member(&blob, ids.outer, "", NULL, &member), -ENOENT);
	assert_int_equal(btf_find_member(&blob, ids.outer, "embedded.", NULL, &member), -ENOENT);
	assert_int_equal(btf_find_member(&blob, ids.outer, ".status", NULL, &member), -ENOENT);
	assert_int_equal(btf_find_member(&blob, ids.integer, "x", NULL, &member), -ENOENT);
	assert_int_equal(btf_find_member(&blob, 0, "x", NULL, &member), -ENOENT);
	assert_int_equal(btf_find_member(&blob, UINT32_MAX, "x", NULL, &member), -ENOENT);
	assert_int_equal(btf_describe(&blob, ids.aliased, &member), 0);
	assert_int_equal(member.btf_type_id, ids.integer);
	btf__free(made);
	arena_free(&arena);
}

/* Asks everything there is to ask of a blob that may be broken in any way. */
/* Two modules: the second's ids begin where the first's do. */
struct split {
	struct arena arena;
	struct btf_blob blob, modules[2];
	struct btf *made, *first, *second;
	struct ids ids;
};

static void open_split(struct split *s,
		       struct btf *(*make_second)(struct btf *, const struct ids *))
{
	const void *data;
	u32 n;

	arena_init(&s->arena);
	s->made = make_blob(&s->ids);
	s->first = make_split(s->made, &s->ids);
	s->second = make_second(s->made, &s->ids);
	/* A copy: what libbpf gives goes as it looks a name up there. */
	data = btf__raw_data(s->made, &n);
	data = arena_strndup(&s->arena, data, n);
	assert_int_equal(btf_init(&s->blob, &s->arena, NULL, data, n), 0);
	for (u32 i = 0; i < 2; i++) {
		data = btf__raw_data(i ? s->second : s->first, &n);
		assert_int_equal(btf_init(&s->modules[i], &s->arena, &s->blob, data, n), 0);
		s->modules[i].number = i + 1;
		s->modules[i].module = i ? "second" : "first";
	}
	s->blob.modules = s->modules;
	s->blob.n_modules = 2;
}

static void close_split(struct split *s)
{
	btf__free(s->first);
	btf__free(s->second);
	btf__free(s->made);
	arena_free(&s->arena);
}

static struct btf *make_other(struct btf *base, const struct ids *ids)
{
	struct btf *btf = btf__new_empty_split(base);

	btf__add_struct(btf, "other", 8);
	btf__add_field(btf, "only", ids->word, 0, 0);
	btf__add_func(btf, "other_request", BTF_FUNC_STATIC, btf__add_func_proto(btf, 0));
	return btf;
}

static void test_modules(void **state)
{
	static const struct expected members[] = {
		{ "status", 64, 4, 0, INT32, 0 },
		{ "device", 0, 8, 0, POINTER, 0 },
	}, of_device[] = {
		{ "blocksize", 64, 8, 0, U64, 0 },
		{ "embedded.status", 160, 4, 0, INT32, 0 },
	};
	struct btf_view function, proto;
	struct catalog_member member;
	u32 queue, id;
	struct split s;

	open_split(&s, make_other);
	/* The kernel's own has none of them, and all is there that it has. */
	assert_int_equal(btf_find(&s.blob, BTF_KIND_STRUCT, "a_device"), 0);
	assert_int_equal(btf_find(&s.blob, BTF_KIND_STRUCT, "outer"), s.ids.outer);
	assert_int_equal(btf_find_in_modules(&s.blob, BTF_KIND_STRUCT, "outer", NULL), 0);
	assert_int_equal(btf_find_in_modules(&s.blob, BTF_KIND_FUNC, "nothing", NULL), 0);
	/* By names of their own, the first of all among them, and by one of the other blob. */
	id = btf_find_in_modules(&s.blob, BTF_KIND_STRUCT, "a_device", NULL);
	assert_int_equal(id & BTF_ID_MASK, btf__type_cnt(s.made));
	assert_true(btf_find_in_modules(&s.blob, BTF_KIND_FUNC, "status", NULL));
	id = btf_find_in_modules(&s.blob, BTF_KIND_FUNC, "a_request", NULL);
	assert_int_equal(id & BTF_ID_MASK,
			 btf__find_by_name_kind(s.first, "a_request", BTF_KIND_FUNC));
	assert_true(btf_type(&s.blob, id, &function) &&
		    btf_type(&s.blob, function.size_or_type, &proto));
	assert_string_equal(function.blob->module, "first");
	assert_int_equal(proto.vlen, 2);
	assert_int_equal(proto.size_or_type, s.ids.integer);
	assert_string_equal(btf_word_name(&proto, 0), "queue");
	assert_string_equal(btf_word_name(&proto, 2), "inner");
	/* Types of the module, and through them of the kernel. */
	assert_int_equal(btf_describe(&s.blob, btf_word_id(&proto, 1), &member), 0);
	queue = member.pointee_btf_id;
	assert_int_equal(btf_find_in_modules(&s.blob, BTF_KIND_STRUCT, "a_queue", NULL), queue);
	for (u32 i = 0; i < ARRAY_SIZE(members); i++)
		check_member(&s.blob, queue, &members[i]);
	assert_int_equal(btf_find_member(&s.blob, queue, "device", NULL, &member), 0);
	for (u32 i = 0; i < ARRAY_SIZE(of_device); i++)
		check_member(&s.blob, member.pointee_btf_id, &of_device[i]);
	assert_int_equal(btf_describe(&s.blob, btf_word_id(&proto, 3), &member), 0);
	assert_int_equal(member.pointee_btf_id, s.ids.inner);
	/* The same number is another type in the second one. */
	id = btf_find_in_modules(&s.blob, BTF_KIND_STRUCT, "other", NULL);
	assert_int_equal(id, 2u << BTF_ID_BITS | btf__type_cnt(s.made));
	check_member(&s.blob, id, &(struct expected){ "only", 0, 8, 0, U64, 0 });
	assert_false(btf_type(&s.blob, 3u << BTF_ID_BITS | btf__type_cnt(s.made), &function));
	assert_false(btf_type(&s.blob, 1u << BTF_ID_BITS | s.ids.outer, &function));
	close_split(&s);
	/* What two of them have is nobody's. */
	open_split(&s, make_split);
	assert_int_equal(btf_find_in_modules(&s.blob, BTF_KIND_FUNC, "a_request", NULL), 0);
	id = btf_find_in_modules(&s.blob, BTF_KIND_FUNC, "a_request", "second");
	assert_true(btf_type(&s.blob, id, &function));
	assert_string_equal(function.blob->module, "second");
	assert_int_equal(btf_find_in_modules(&s.blob, BTF_KIND_FUNC, "a_request", "third"), 0);
	close_split(&s);
}

static u32 n_named;

static void count_type(void *context, u32 id, const char *name)
{
	n_named += strlen(name) > 0;
}

/* A module whose numbers mean anything. */
static void ask_module(struct btf_blob *base, struct arena *arena, const void *data, size_t n)
{
	struct catalog_member member;
	struct btf_blob module;
	u32 id;

	if (btf_init(&module, arena, base, data, n))
		return;
	module.number = 1;
	base->modules = &module;
	base->n_modules = 1;
	for (u32 i = 0; i < 12; i++) {
		id = 1u << BTF_ID_BITS | (module.first_id + i);
		btf_describe(base, id, &member);
		btf_find_member(base, id, "device", NULL, &member);
		btf_find_member(base, id, "embedded.status", NULL, &member);
	}
	id = btf_find_in_modules(base, BTF_KIND_FUNC, "a_request", NULL);
	n_named += id != 0;
	btf_find_in_modules(base, BTF_KIND_STRUCT, "a_device", NULL);
}

static void test_broken_module(void **state)
{
	struct split s;
	const u8 *data;
	u8 *copy;
	u32 n;

	open_split(&s, make_other);
	data = btf__raw_data(s.first, &n);
	n_named = 0;
	for (u32 length = 0; length <= n; length++) {
		copy = malloc(length ? length : 1);
		memcpy(copy, data, length);
		ask_module(&s.blob, &s.arena, copy, length);
		free(copy);
	}
	copy = malloc(n);
	srand(8);
	for (u32 round = 0; round < 5000; round++) {
		memcpy(copy, data, n);
		for (u32 i = 0; i < 1 + round % 8; i++)
			copy[24 + rand() % (n - 24)] = rand();
		ask_module(&s.blob, &s.arena, copy, n);
	}
	free(copy);
	close_split(&s);
	assert_true(n_named > 100 && n_named < 5000);
}

static void ask_everything(const void *data, size_t n)
{
	struct catalog_member member;
	struct btf_blob blob;
	struct suggest suggest;
	struct arena arena;

	arena_init(&arena);
	if (!btf_init(&blob, &arena, NULL, data, n)) {
		for (u32 id = 0; id < 40; id++) {
			btf_describe(&blob, id, &member);
			btf_find_member(&blob, id, "nothing", &suggest, &member);
			btf_find_member(&blob, id, "embedded.status", &suggest, &member);
			btf_find_member(&blob, id, "deep_second", NULL, &member);
		}
		btf_describe(&blob, UINT32_MAX, &member);
		btf_find(&blob, BTF_KIND_STRUCT, "outer");
		btf_each_name(&blob, BTF_KIND_TYPEDEF, "a", count_type, NULL);
	}
	arena_free(&arena);
}

/* The copy ends where its allocation ends, so that a sanitizer sees each byte too far. */
static void test_broken(void **state)
{
	static const u8 flips[] = { 0x01, 0x80, 0xff, 0x3f };
	struct btf *made;
	struct ids ids;
	const u8 *data;
	u8 *copy;
	u32 n;

	made = make_blob(&ids);
	data = btf__raw_data(made, &n);
	for (u32 length = 0; length < n; length++) {
		copy = malloc(length ? length : 1);
		memcpy(copy, data, length);
		ask_everything(copy, length);
		free(copy);
	}
	copy = malloc(n);
	for (u32 at = 0; at < n; at++) {
		for (u32 i = 0; i < ARRAY_SIZE(flips); i++) {
			memcpy(copy, data, n);
			copy[at] ^= flips[i];
			ask_everything(copy, n);
		}
	}
	srand(7);
	for (u32 round = 0; round < 3000; round++) {
		memcpy(copy, data, n);
		for (u32 i = 0; i < 1 + round % 8; i++)
			copy[24 + rand() % (n - 24)] = rand();
		ask_everything(copy, n);
	}
	free(copy);
	btf__free(made);
	assert_true(n_named > 0);
}

/* Anonymous structs that hold each other without end: the walk has a budget. */
static void test_endless(void **state)
{
	struct btf *made = btf__new_empty();
	struct catalog_member member;
	struct btf_blob blob;
	struct arena arena;
	u32 n;
	const void *data;

	/* Type 1 is a struct with 100 unnamed members of type 1. */
	btf__add_struct(made, "snake", 800);
	for (u32 i = 0; i < 100; i++)
		btf__add_field(made, NULL, 1, 64 * i, 0);
	btf__add_typedef(made, "ouroboros", 2);
	arena_init(&arena);
	data = btf__raw_data(made, &n);
	assert_int_equal(btf_init(&blob, &arena, NULL, data, n), 0);
	assert_int_equal(btf_find_member(&blob, 1, "x", NULL, &member), -ENOENT);
	assert_int_equal(btf_describe(&blob, 2, &member), -ENOENT);
	btf__free(made);
	arena_free(&arena);
}

/* ---- the live kernel, with libbpf as the oracle ---- */

struct live {
	struct btf *oracle;
	struct btf_blob blob;
	struct arena arena;
};

static int open_live(void **state)
{
	static struct live live;

	*state = NULL;
	if (access(VMLINUX, R_OK))
		return 0;
	arena_init(&live.arena);
	live.oracle = btf__load_vmlinux_btf();
	assert_non_null(live.oracle);
	assert_int_equal(btf_open(&live.blob, &live.arena, NULL, VMLINUX), 0);
	*state = &live;
	return 0;
}

static bool has_live(const struct live *live)
{
	if (!live)
		print_message("SKIP: this kernel has no readable %s\n", VMLINUX);
	return live != NULL;
}

static int close_live(void **state)
{
	struct live *live = *state;

	if (!live)
		return 0;
	btf__free(live->oracle);
	btf_close(&live->blob);
	arena_free(&live->arena);
	return 0;
}

/* Every 211th type by id, and by name where it has one. */
static void test_live_types(void **state)
{
	struct live *live = *state;
	u32 n;

	if (!has_live(live))
		skip();
	n = btf__type_cnt(live->oracle);
	for (u32 id = 1; id < n; id += 211) {
		const struct btf_type *wanted = btf__type_by_id(live->oracle, id);
		const char *name = btf__name_by_offset(live->oracle, wanted->name_off);
		struct btf_view view;

		assert_true(btf_type(&live->blob, id, &view));
		check_int(view.kind, btf_kind(wanted), name);
		check_int(view.vlen, btf_vlen(wanted), name);
		check_int(view.size_or_type, wanted->size, name);
		assert_string_equal(view.name, name);
		if (name[0])
			check_int(btf_find(&live->blob, view.kind, name),
				  btf__find_by_name_kind(live->oracle, name, view.kind), name);
	}
	struct btf_view view;

	assert_true(btf_type(&live->blob, n - 1, &view));
	assert_false(btf_type(&live->blob, n, &view));
}

/* All members of a struct, those of anonymous structs with their offsets added. */
static u32 compare_members(struct live *live, u32 root, const struct btf_type *type, u64 base)
{
	const struct btf_member *at = btf_members(type);
	u32 n = 0;

	for (u32 i = 0; i < btf_vlen(type); i++, at++) {
		const char *name = btf__name_by_offset(live->oracle, at->name_off);
		u64 offset = base + btf_member_bit_offset(type, i);
		int resolved = btf__resolve_type(live->oracle, at->type);
		struct catalog_member member;

		if (!name[0]) {
			if (resolved > 0 &&
			    btf_is_composite(btf__type_by_id(live->oracle, resolved)))
				n += compare_members(live, root,
						     btf__type_by_id(live->oracle, resolved),
						     offset);
			continue;
		}
		check_int(btf_find_member(&live->blob, root, name, NULL, &member), 0, name);
		check_int(member.offset_bits, offset, name);
		check_int(member.bitfield_bits, btf_member_bitfield_size(type, i), name);
		check_int(member.size_bytes, btf__resolve_size(live->oracle, at->type), name);
		n++;
	}
	return n;
}

static void test_live_members(void **state)
{
	static const char *const names[] = { "task_struct", "pt_regs",	 "request", "sk_buff",
					     "file",	    "mm_struct", "sock",    "inode" };
	struct live *live = *state;

	if (!has_live(live))
		skip();
	for (u32 i = 0; i < ARRAY_SIZE(names); i++) {
		int id = btf__find_by_name_kind(live->oracle, names[i], BTF_KIND_STRUCT);

		assert_true(id > 0);
		check_int(btf_find(&live->blob, BTF_KIND_STRUCT, names[i]), id, names[i]);
		assert_true(compare_members(live, id, btf__type_by_id(live->oracle, id), 0) > 5);
	}
}

static int compare_ns(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* From nothing to the three ids that a raw tracepoint's program needs; reported, not judged. */
static void test_live_speed(void **state)
{
	u64 ns[15];

	if (!has_live(*state))
		skip();
	for (u32 i = 0; i < ARRAY_SIZE(ns); i++) {
		u64 start = base_monotonic_ns();
		struct btf_blob blob;
		struct arena arena;

		arena_init(&arena);
		assert_int_equal(btf_open(&blob, &arena, NULL, VMLINUX), 0);
		assert_true(btf_find(&blob, BTF_KIND_TYPEDEF, "btf_trace_sys_enter"));
		assert_true(btf_find(&blob, BTF_KIND_STRUCT, "task_struct"));
		assert_true(btf_find(&blob, BTF_KIND_FUNC, "bpf_rdonly_cast"));
		btf_close(&blob);
		arena_free(&arena);
		ns[i] = base_monotonic_ns() - start;
	}
	qsort(ns, ARRAY_SIZE(ns), sizeof(ns[0]), compare_ns);
	print_message("three ids from a fresh start: median %.2f ms\n",
		      ns[ARRAY_SIZE(ns) / 2] / 1e6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),	     cmocka_unit_test(test_broken),
		cmocka_unit_test(test_modules),	     cmocka_unit_test(test_broken_module),
		cmocka_unit_test(test_endless),	     cmocka_unit_test(test_live_types),
		cmocka_unit_test(test_live_members), cmocka_unit_test(test_live_speed),
	};

	return cmocka_run_group_tests_name("btf", tests, open_live, close_live);
}
