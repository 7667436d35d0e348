/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A struct and a member's path ("thread_info.status") -> where its bits are and
 * what they mean.  Anonymous structs and unions are searched as C does it.
 */
#include "cat/internal.h"

#include <errno.h>
#include <string.h>

#define NESTING_MAX    16
#define MEMBERS_MAX    65536
#define NAME_BYTES_MAX 128

/* Words of a struct's member: name, type, offset in bits (with the bitfield's width). */
struct member_words {
	const char *name;
	u32 type;
	u32 offset_bits, bitfield_bits;
};

static struct member_words member_at(const struct btf_view *view, u32 i)
{
	u32 offset = btf_word(view, 3 * i + 2);
	struct member_words words = {
		.name = btf_word_name(view, 3 * i),
		.type = btf_word_id(view, 3 * i + 1),
		.offset_bits = view->kind_flag ? BTF_MEMBER_BIT_OFFSET(offset) : offset,
		.bitfield_bits = view->kind_flag ? BTF_MEMBER_BITFIELD_SIZE(offset) : 0,
	};

	return words;
}

static bool is_composite(const struct btf_view *view)
{
	return view->kind == BTF_KIND_STRUCT || view->kind == BTF_KIND_UNION;
}

static bool is_char(const struct btf_view *view)
{
	return view->kind == BTF_KIND_INT && view->size_or_type == 1 &&
	       (!strcmp(view->name, "char") ||
		(BTF_INT_ENCODING(btf_word(view, 0)) & BTF_INT_CHAR));
}

static void describe_int(const struct btf_view *view, struct catalog_member *facts)
{
	u32 encoding = BTF_INT_ENCODING(btf_word(view, 0));

	facts->size_bytes = view->size_or_type;
	switch (view->size_or_type) {
	case 1:
	case 2:
	case 4:
	case 8:
		facts->type = encoding & BTF_INT_BOOL
				      ? (struct type){ .kind = TYPE_BOOL, .bits = 8 }
				      : type_int(8 * view->size_or_type, encoding & BTF_INT_SIGNED);
		break;
	default: /* __int128 */
		facts->type = (struct type){ .kind = TYPE_BLOB, .bytes = view->size_or_type };
	}
}

static void describe_pointer(struct btf_blob *btf, const struct btf_view *view,
			     struct catalog_member *facts)
{
	struct btf_view pointee;

	facts->size_bytes = 8;
	facts->type = (struct type){ .kind = TYPE_POINTER, .bits = 64 };
	facts->is_pointer = true;
	facts->element_btf_id = view->size_or_type;
	if (!btf_resolve(btf, view->size_or_type, &pointee))
		return;
	if (is_composite(&pointee))
		facts->pointee_btf_id = pointee.id;
	facts->is_char_pointer = is_char(&pointee);
}

/* Elements of arrays of arrays are arrays. */
static int describe_array(struct btf_blob *btf, struct btf_view view, struct catalog_member *facts)
{
	u64 bytes = 1;

	facts->is_array = true;
	facts->n_elements = btf_word(&view, 2);
	facts->element_btf_id = btf_word_id(&view, 0);
	for (int depth = 0; view.kind == BTF_KIND_ARRAY; depth++) {
		bytes *= btf_word(&view, 2);
		if (depth > NESTING_MAX || bytes > UINT32_MAX ||
		    !btf_resolve(btf, btf_word_id(&view, 0), &view))
			return -EINVAL;
		/* A trailing char x[] has no capacity of its own. */
		if (!depth && is_char(&view))
			facts->type = type_text(facts->n_elements ?: DYNAMIC_TEXT_BYTES);
	}
	bytes *= view.kind == BTF_KIND_PTR ? 8 : view.size_or_type;
	facts->size_bytes = (u32)bytes;
	return bytes > UINT32_MAX ? -EINVAL : 0;
}

int btf_describe(struct btf_blob *btf, u32 id, struct catalog_member *ret_type)
{
	struct btf_view view;

	*ret_type = (struct catalog_member){ 0 };
	if (!btf_resolve(btf, id, &view))
		return -ENOENT;
	ret_type->btf_type_id = view.id;
	switch (view.kind) {
	case BTF_KIND_INT:
		describe_int(&view, ret_type);
		return 0;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		ret_type->size_bytes = view.size_or_type;
		if (view.size_or_type != 1 && view.size_or_type != 2 && view.size_or_type != 4 &&
		    view.size_or_type != 8)
			return -EINVAL;
		ret_type->type = type_int(8 * view.size_or_type, view.kind_flag);
		return 0;
	case BTF_KIND_PTR:
		describe_pointer(btf, &view, ret_type);
		return 0;
	case BTF_KIND_ARRAY:
		return describe_array(btf, view, ret_type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		ret_type->size_bytes = view.size_or_type;
		return 0;
	case BTF_KIND_FLOAT:
		ret_type->size_bytes = view.size_or_type;
		ret_type->type = (struct type){ .kind = TYPE_BLOB, .bytes = view.size_or_type };
		return 0;
	default:
		return -EINVAL;
	}
}

/* A walk over the members of a struct and of the anonymous ones inside it. */
struct walk {
	struct btf_blob *btf;
	u32 budget;	  /* members still to look at: a broken blob may nest without end */
	const char *name; /* that is looked for */
	struct suggest *suggest;
	u64 offset_bits;
	struct member_words found;
};

/* The member that the walk stops at is in walk->found; true then. */
static bool walk_in(struct walk *walk, const struct btf_view *composite, int depth)
{
	struct btf_view inner;

	for (u32 i = 0; i < composite->vlen && walk->budget; i++) {
		struct member_words words = member_at(composite, i);

		walk->budget--;
		if (!words.name[0]) {
			if (depth < NESTING_MAX && btf_resolve(walk->btf, words.type, &inner) &&
			    is_composite(&inner) && walk_in(walk, &inner, depth + 1)) {
				walk->offset_bits += words.offset_bits;
				return true;
			}
			continue;
		}
		if (!strcmp(words.name, walk->name)) {
			walk->offset_bits += words.offset_bits;
			walk->found = words;
			return true;
		}
		if (walk->suggest)
			suggest_offer(walk->suggest, words.name);
	}
	return false;
}

/* The width of old bitfields (without the struct's kind_flag) is in their integer type. */
static void old_bitfield(struct btf_blob *btf, struct member_words *words, u64 *offset_bits)
{
	struct btf_view view;
	u32 info;

	if (words->bitfield_bits || !btf_resolve(btf, words->type, &view) ||
	    view.kind != BTF_KIND_INT)
		return;
	info = btf_word(&view, 0);
	if (BTF_INT_BITS(info) && BTF_INT_BITS(info) < 8 * view.size_or_type) {
		words->bitfield_bits = BTF_INT_BITS(info);
		*offset_bits += BTF_INT_OFFSET(info);
	}
}

static int describe_found(struct btf_blob *btf, const char *of, struct member_words words,
			  u64 offset_bits, struct catalog_member *ret_member)
{
	int rc;

	old_bitfield(btf, &words, &offset_bits);
	rc = btf_describe(btf, words.type, ret_member);
	/* An unsigned char *, which elsewhere points to bytes of any kind. */
	if (!strcmp(of, "qstr") && !strcmp(words.name, "name"))
		ret_member->is_char_pointer = true;
	ret_member->offset_bits = offset_bits;
	ret_member->bitfield_bits = words.bitfield_bits;
	return rc;
}

int btf_find_member(struct btf_blob *btf, u32 struct_id, const char *path, struct suggest *suggest,
		    struct catalog_member *ret_member)
{
	struct walk walk = { .btf = btf, .budget = MEMBERS_MAX, .suggest = suggest };
	struct btf_view view;
	char name[NAME_BYTES_MAX];
	bool is_found;
	size_t n;

	*ret_member = (struct catalog_member){ 0 };
	walk.found.type = struct_id;
	do {
		n = strcspn(path, ".");
		if (!n || n >= sizeof(name) || !btf_resolve(btf, walk.found.type, &view) ||
		    !is_composite(&view))
			return -ENOENT;
		memcpy(name, path, n);
		name[n] = '\0';
		walk.name = name;
		if (suggest)
			suggest_init(suggest, name);
		is_found = walk_in(&walk, &view, 0);
		if (suggest)
			suggest->wanted = path; /* it outlives this call, name does not */
		if (!is_found)
			return -ENOENT;
		path += n;
	} while (*path++);
	return describe_found(btf, view.name, walk.found, walk.offset_bits, ret_member);
}

struct listing {
	struct btf_blob *btf;
	u32 budget;
	void (*visit)(void *context, const char *name, const struct catalog_member *member);
	void *context;
};

static void list_in(struct listing *l, u32 id, u64 offset_bits, int depth)
{
	struct catalog_member member;
	struct btf_view view;

	if (depth > NESTING_MAX || !btf_resolve(l->btf, id, &view) || !is_composite(&view))
		return;
	for (u32 i = 0; i < view.vlen && l->budget; i++, l->budget--) {
		struct member_words words = member_at(&view, i);
		u64 at = offset_bits + words.offset_bits;

		if (!words.name[0])
			list_in(l, words.type, at, depth + 1);
		else if (!describe_found(l->btf, view.name, words, at, &member))
			l->visit(l->context, words.name, &member);
	}
}

void btf_each_member(struct btf_blob *btf, u32 struct_id,
		     void (*visit)(void *context, const char *name,
				   const struct catalog_member *member),
		     void *context)
{
	list_in(&(struct listing){ btf, MEMBERS_MAX, visit, context }, struct_id, 0, 0);
}
