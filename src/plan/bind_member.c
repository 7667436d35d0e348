/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that is read where the event is, by the kernel's types (BTF): members a.b.c, elements
 * a[i], texts str(p), strs(p); and pointers as such to other types: CAST(p AS 'struct x *'),
 * user(p, 'x'), container_of(p, 'struct x', member).
 */
#include <linux/btf.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"

/* A text as a column has, where the query does not say how long. */
#define TEXT_BYTES 64
/* Of str(p, n): programs keep a text on the stack, which has 512 bytes. */
#define TEXT_BYTES_MAX 255
/* Of strs(p); and room for what says that there is more. */
#define STRS_BYTES	 128
#define STRS_BYTES_LEAST 4

/* --- What is known of a type --- */

bool bind_facts(struct scope *scope, const struct expr *e, struct catalog_member *ret_facts)
{
	const struct stream *stream = bind_stream_of(scope, e);
	const struct field *f = stream ? &stream->fields[e->index] : NULL;

	*ret_facts = e->member;
	if (e->kind == EXPR_MEMBER)
		return true;
	if (e->kind == EXPR_SYSTEM && e->index == SYS_TASK) {
		ret_facts->is_pointer = true;
		ret_facts->pointee_btf_id =
			catalog_btf_id(scope->catalog, BTF_KIND_STRUCT, "task_struct");
		ret_facts->element_btf_id = ret_facts->pointee_btf_id;
		return true;
	}
	if (f && f->kind == FIELD_CAST) {
		ret_facts->is_pointer = true;
		ret_facts->pointee_btf_id = ret_facts->element_btf_id = f->btf_type_id;
		return true;
	}
	if (!f || f->kind == FIELD_DATA_LOC || f->kind == FIELD_REL_LOC)
		return false;
	if (f->n_elements) {
		ret_facts->type = f->type;
		ret_facts->is_array = true;
		ret_facts->n_elements = f->n_elements;
		ret_facts->size_bytes = f->size_bytes;
		return true;
	}
	return f->btf_type_id && catalog_btf_type(scope->catalog, f->btf_type_id, ret_facts) == 0;
}

u32 bind_struct_behind(struct scope *scope, const struct expr *e)
{
	struct catalog_member facts;

	if (!bind_facts(scope, e, &facts) || facts.is_array)
		return 0;
	if (facts.is_pointer)
		return facts.pointee_btf_id;
	return facts.type.kind == TYPE_NULL ? facts.btf_type_id : 0;
}

/* --- Steps --- */

/* A char * is its text; as what is walked on from it is a pointer again. */
static struct expr *as_pointer(struct scope *scope, struct expr *e)
{
	struct expr *pointer;

	if (e->kind != EXPR_MEMBER || !e->member.is_char_pointer || !expr_is_text(e))
		return e;
	pointer = expr_copy(scope->arena, e);
	pointer->member.is_char_pointer = false;
	expr_set_type(pointer, pointer->member.type);
	return pointer;
}

struct expr *bind_read_new(struct scope *scope, enum read_kind read, struct span span,
			   struct expr *base, struct expr *index)
{
	struct expr *e = expr_make(scope->arena, EXPR_MEMBER, span, index ? 2 : 1,
				   as_pointer(scope, base), index);

	e->read = read;
	e->nullable = true;
	e->is_of_user = base->kind == EXPR_MEMBER && base->is_of_user;
	return e;
}

static void set_type(struct expr *e)
{
	expr_set_type(e, e->member.is_char_pointer ? type_text(TEXT_BYTES) : e->member.type);
}

/* One step of a.b.c: the member `name` of what `base` points to or is. */
static struct expr *member_step(struct scope *scope, struct expr *base, u32 struct_id,
				const char *name, struct span span)
{
	struct expr *e = bind_read_new(scope, READ_MEMBER, span_join(base->span, span), base, NULL);
	struct suggest suggest;

	suggest_init(&suggest, name);
	if (catalog_member(scope->catalog, struct_id, name, &suggest, &e->member) != 0) {
		struct diag *d =
			diag_error(scope->diags, "unknown-member", span, "%s has no member \"%s\"",
				   catalog_struct_name(scope->catalog, struct_id), name);

		if (suggest_best(&suggest))
			diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
		return NULL;
	}
	e->name = name;
	set_type(e);
	return e;
}

struct expr *bind_member_chain(struct scope *scope, struct expr *base, struct span span,
			       const char *const *names)
{
	for (; base && *names; names++) {
		u32 id = bind_struct_behind(scope, base);

		base = id ? member_step(scope, base, id, *names, span)
			  : diag_refuse(scope->diags, "no-members", span,
					"the kernel's type information does not say what \"%s\" "
					"stands in",
					*names);
	}
	return base;
}

/* What was written, or where that stands in no text what it is called. */
static const char *written(struct scope *scope, struct span span, const char *name)
{
	return span.end > span.start ? arena_strndup(scope->arena, scope->diags->text + span.start,
						     span.end - span.start)
				     : name;
}

struct expr *bind_members(struct scope *scope, struct expr *base, const struct ast *ast, u32 from)
{
	for (u32 i = from; i < ast->n_parts; i++) {
		u32 id = bind_struct_behind(scope, base);

		if (!id)
			return diag_refuse(scope->diags, "no-members", ast->part_spans[i],
					   "%s has no members" HINT
					   "members are read through pointers to kernel structs, "
					   "as raw tracepoints and functions have them; an address "
					   "is made one by CAST(x AS 'struct sock *')",
					   i ? ast->parts[i - 1]
					     : written(scope, base->span, "what is before it"));
		base = member_step(scope, base, id, ast->parts[i], ast->part_spans[i]);
		if (!base)
			return NULL;
	}
	return base;
}

/* --- What can be read where the event is --- */

struct reading {
	struct scope *scope;
	const struct expr *of; /* a column of the event */
	bool is_recorded, is_elsewhere;
};

static void note_read(void *context, struct expr *e)
{
	bool is_of_event = e->kind == EXPR_FIELD || e->kind == EXPR_SYSTEM;
	struct reading *r = context;
	const struct stream *stream = bind_stream_of(r->scope, e);

	r->is_recorded |= stream && stream->kind == STREAM_FILE;
	r->is_elsewhere |= e->is_user_only || (is_of_event && r->of && r->of->source != e->source);
	r->is_elsewhere |= e->kind == EXPR_UNION || e->kind == EXPR_RUNNING;
	r->is_elsewhere |= e->kind >= EXPR_KEY && e->kind <= EXPR_COLUMN;
	if (is_of_event)
		r->of = e;
}

/* All of it is computed by the program that has the event, whichever way the query runs. */
struct expr *bind_of_one_event(struct scope *scope, struct expr *e)
{
	struct reading r = { .scope = scope };

	expr_each(e, note_read, &r);
	if (r.is_recorded)
		return diag_refuse(scope->diags, "no-memory", e->span,
				   "a recorded address leads nowhere: that memory is gone" HINT
				   "record what stood there: ebql record 'SELECT str(p) AS name'");
	if (r.is_elsewhere || !r.of)
		return diag_refuse(scope->diags, "not-of-event", e->span,
				   "memory is read as the event happens, and this is not of one "
				   "event of the kernel alone" HINT
				   "read it in a nested select over that stream, and name the "
				   "column there");
	return e;
}

/* --- a[i] --- */

static struct expr *no_elements(struct scope *scope, const struct ast *ast)
{
	return diag_refuse(scope->diags, "no-elements", ast->args[0]->span,
			   "%s has no elements" HINT
			   "elements are those of arrays, and of what a pointer of a known type "
			   "points to: CAST(x AS 'u64 *')[0]",
			   written(scope, ast->args[0]->span, "this"));
}

/* What an element is; false: of no size. */
static bool element_of(struct scope *scope, const struct catalog_member *facts,
		       struct catalog_member *ret_element)
{
	if (facts->element_btf_id)
		return catalog_btf_type(scope->catalog, facts->element_btf_id, ret_element) == 0 &&
		       ret_element->size_bytes;
	*ret_element = (struct catalog_member){ .type = facts->type };
	if (!facts->is_array)
		return false;
	ret_element->size_bytes = facts->size_bytes / facts->n_elements;
	return true;
}

struct expr *bind_element(struct scope *scope, const struct ast *ast)
{
	struct expr *base = bind_path(scope, ast->args[0]);
	struct expr *index = base ? bind_expr(scope, ast->args[1]) : NULL, *e;
	bool is_constant = index && index->kind == EXPR_INTEGER;
	struct catalog_member facts, element;
	u32 n;

	if (!index)
		return NULL;
	if (!bind_facts(scope, base, &facts) || !(facts.is_array || facts.is_pointer) ||
	    !element_of(scope, &facts, &element))
		return no_elements(scope, ast);
	if (!type_is_word(index->type))
		return diag_refuse(scope->diags, "type-mismatch", index->span,
				   "elements are numbered: [0] is the first");
	n = facts.is_array ? facts.n_elements : 0;
	if (is_constant && (index->integer > UINT32_MAX || index->integer < -(s128)UINT32_MAX ||
			    (facts.is_array && index->integer < 0) || (n && index->integer >= n)))
		return diag_refuse(scope->diags, "no-element", index->span,
				   n ? "%s has %u elements: [0] to [%u]"
				     : "there is no such element of %s",
				   written(scope, base->span, "this"), n, n - 1);
	e = bind_read_new(scope, READ_ELEMENT, ast->span, base, is_constant ? NULL : index);
	e->member = element;
	e->index = n;
	if (is_constant) {
		e->integer = index->integer;
		e->member.offset_bits = (u64)(8 * (s64)index->integer * element.size_bytes);
	}
	e->name = "[]";
	set_type(e);
	return bind_of_one_event(scope, e);
}

/* How programs may read an array of the record: elements of so many bytes, all aligned. */
static u32 aligned_bytes(struct scope *scope, const struct expr *place, u32 at, u32 bytes)
{
	const struct stream *stream = bind_stream_of(scope, place);
	const struct stream_list *list =
		stream ? scope->shared->scans.at[place->source]->scan.streams : NULL;
	u32 offset = stream ? at + stream->fields[place->index].offset_bytes : 0;

	while (stream && (list->streams.n > 1 || offset % bytes) && bytes > 1)
		bytes /= 2;
	return bytes;
}

struct expr *bind_word_at(struct scope *scope, struct expr *place, u32 at, u32 bytes)
{
	u32 each = aligned_bytes(scope, place, at, bytes);
	struct expr *word = NULL;

	for (u32 i = 0; i < bytes; i += each) {
		struct expr *e = bind_read_new(scope, READ_ELEMENT, place->span, place, NULL);
		struct expr *shift = expr_number(scope->arena, place->span, 8 * i);

		e->member = (struct catalog_member){ .size_bytes = each,
						     .type = type_int(8 * each, false),
						     .offset_bits = 8 * (u64)(at + i) };
		e->integer = (at + i) / each;
		e->name = "[]";
		set_type(e);
		if (i)
			e = expr_op(scope->arena, OP_SHIFT_LEFT, place->span, e, shift);
		word = i ? expr_op(scope->arena, OP_BIT_OR, place->span, word, e) : e;
	}
	return word ? bind_of_one_event(scope, word) : NULL;
}

/* --- Pointers to other types, texts --- */

struct type_name {
	u32 kind; /* BTF_KIND_*; of one word BTF_KIND_INT or BTF_KIND_TYPEDEF */
	char *name;
	u32 n_stars;
};

static struct type_name type_name_read(struct arena *arena, const char *text)
{
	static const struct {
		const char *word;
		u32 kind;
	} words[] = { { "const ", BTF_KIND_INT },
		      { "struct ", BTF_KIND_STRUCT },
		      { "union ", BTF_KIND_UNION },
		      { "enum ", BTF_KIND_ENUM } };
	struct type_name type = { .kind = BTF_KIND_INT };
	size_t n = strlen(text);

	for (; n && (text[n - 1] == '*' || text[n - 1] == ' '); n--)
		type.n_stars += text[n - 1] == '*';
	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		size_t word = strlen(words[i].word);

		if (n <= word || strncmp(text, words[i].word, word) != 0)
			continue;
		text += word;
		n -= word;
		type.kind = words[i].kind;
	}
	type.name = arena_strndup(arena, text, n);
	return type;
}

static void *unknown_type(struct scope *scope, const struct type_name *type, struct span span)
{
	struct suggest suggest;
	struct diag *d = diag_error(scope->diags, "unknown-type", span,
				    "the kernel's BTF has no type \"%s\"", type->name);

	suggest_init(&suggest, type->name);
	catalog_suggest_type(scope->catalog, type->kind, &suggest);
	if (suggest_best(&suggest))
		diag_hint(scope->diags, d, "did you mean \"%s\"?", suggest_best(&suggest));
	else
		diag_hint(scope->diags, d,
			  "structs are written 'struct sock', numbers 'u32' or "
			  "'unsigned int'");
	return NULL;
}

/* Its id in BTF; 0 after a diagnostic. */
static u32 type_find(struct scope *scope, const struct type_name *type, struct span span)
{
	u32 id = catalog_any_btf_id(scope->catalog, type->kind, type->name);

	if (!id && type->kind == BTF_KIND_INT)
		id = catalog_any_btf_id(scope->catalog, BTF_KIND_TYPEDEF, type->name);
	if (!id)
		unknown_type(scope, type, span);
	return id;
}

/* What a text is read at, or a struct: a pointer, a number, an array or a struct itself. */
static struct expr *bind_address(struct scope *scope, const struct ast *ast, const char *what)
{
	struct expr *e = bind_path(scope, ast);

	if (!e)
		return NULL;
	e = as_pointer(scope, e);
	if (expr_is_place(e) ||
	    (bind_is_value(scope, e) && (e->type.kind == TYPE_POINTER || e->type.kind == TYPE_INT)))
		return bind_of_one_event(scope, e);
	return diag_refuse(scope->diags, "type-mismatch", ast->span,
			   "%s takes an address, this is %s" HINT "%s", what,
			   expr_is_text(e) ? "a text" : "none",
			   expr_is_text(e) ? "it has been read: leave that out" : "");
}

/* The address as a pointer to a type of BTF, so many bytes before it. */
static struct expr *pointer_to(struct scope *scope, const struct ast *ast, struct expr *address,
			       u32 btf_id, u64 bytes_before)
{
	struct expr *e = bind_read_new(scope, READ_POINTER, ast->span, address, NULL);
	struct catalog_member type;

	e->member = (struct catalog_member){
		.size_bytes = 8,
		.type = { .kind = TYPE_POINTER, .bits = 64 },
		.is_pointer = true,
		.element_btf_id = btf_id,
		.offset_bits = -8 * bytes_before,
	};
	if (catalog_btf_type(scope->catalog, btf_id, &type) == 0 && type.type.kind == TYPE_NULL &&
	    !type.is_array)
		e->member.pointee_btf_id = type.btf_type_id;
	e->is_of_user = false;
	e->name = written(scope, ast->span, "pointer");
	set_type(e);
	return e;
}

struct expr *bind_value_there(struct scope *scope, const struct ast *ast, struct expr *e)
{
	struct catalog_member facts, element;
	struct expr *first;

	if (!e || e->kind != EXPR_MEMBER || e->read != READ_POINTER || !e->is_of_user ||
	    !bind_facts(scope, e, &facts) || !element_of(scope, &facts, &element) ||
	    !type_is_word(element.type))
		return e;
	first = bind_read_new(scope, READ_ELEMENT, ast->span, e, NULL);
	first->member = element;
	first->name = "[]";
	set_type(first);
	return bind_of_one_event(scope, first);
}

bool bind_is_pointer_type(const char *type)
{
	return strchr(type, '*') || strncmp(type, "struct ", 7) == 0 ||
	       strncmp(type, "union ", 6) == 0;
}

struct expr *bind_cast_pointer(struct scope *scope, const struct ast *ast)
{
	struct type_name type = type_name_read(scope->arena, ast->text);
	struct expr *address;
	u32 id;

	if (ast->args[0]->kind == AST_NULL)
		return bind_expr(scope, ast->args[0]);
	address = bind_address(scope, ast->args[0], "CAST to a pointer");
	if (!address)
		return NULL;
	if (type.n_stars != 1)
		return diag_refuse(scope->diags, "wrong-arguments", ast->span,
				   "a CAST makes a pointer to a type" HINT
				   "CAST(x AS 'struct sock *'), with one star");
	id = type_find(scope, &type, ast->span);
	return id ? pointer_to(scope, ast, address, id, 0) : NULL;
}

static struct expr *wrong(struct scope *scope, const struct ast *ast, const char *takes)
{
	return diag_refuse(scope->diags, "wrong-arguments", ast->span, "%s() takes %s", ast->text,
			   takes);
}

/* The type that an argument names, which is no pointer's; 0 after a diagnostic. */
static u32 bind_type(struct scope *scope, const struct ast *call, const struct ast *ast)
{
	struct type_name type;

	if (ast->kind != AST_TEXT)
		return wrong(scope, call, "a type in quotes as its second argument: 'struct sock'"),
		       0;
	type = type_name_read(scope->arena, ast->text);
	if (type.n_stars)
		return wrong(scope, call, "the type of what stands there, without a star"), 0;
	return type_find(scope, &type, ast->span);
}

/* user(p, 'type') */
struct expr *bind_user(struct scope *scope, const struct ast *ast)
{
	struct expr *address, *e;
	u32 id;

	if (ast->n_args != 2)
		return wrong(scope, ast, "an address of the program's and a type: user(p, 'u32')");
	address = bind_address(scope, ast->args[0], "user()");
	id = address ? bind_type(scope, ast, ast->args[1]) : 0;
	if (!id)
		return NULL;
	e = pointer_to(scope, ast, address, id, 0);
	e->is_of_user = true;
	return e;
}

/* container_of(p, 'struct x', member) */
struct expr *bind_container_of(struct scope *scope, const struct ast *ast)
{
	const struct ast *member = ast->n_args == 3 ? ast->args[2] : NULL;
	struct expr *address, *container;
	u64 offset_bits = 0;
	u32 id;

	if (!member || member->kind != AST_NAME)
		return wrong(scope, ast,
			     "an address, the struct around it and the member that it is of: "
			     "container_of(p, 'struct file', f_path)");
	address = bind_address(scope, ast->args[0], "container_of()");
	id = address ? bind_type(scope, ast, ast->args[1]) : 0;
	if (!id)
		return NULL;
	container = pointer_to(scope, ast, address, id, 0);
	if (!bind_struct_behind(scope, container))
		return wrong(scope, ast, "a struct or union as its second argument");
	for (u32 i = 0; i < member->n_parts; i++) {
		u32 within = bind_struct_behind(scope, container);

		container = !within ? NULL
				    : member_step(scope, container, within, member->parts[i],
						  member->part_spans[i]);
		if (!within)
			return wrong(scope, ast, "a member that stands in the struct itself");
		if (!container)
			return NULL;
		offset_bits += container->member.offset_bits;
		if (i + 1 < member->n_parts && !expr_is_place(container))
			return wrong(scope, ast, "a member that stands in the struct itself");
	}
	return pointer_to(scope, ast, address, id, offset_bits / 8);
}

u32 bind_bytes(struct scope *scope, const struct ast *call, const struct ast *ast, u32 least,
	       u32 most)
{
	struct expr *n = bind_expr(scope, ast);

	if (!n)
		return 0;
	if (n->kind == EXPR_INTEGER && n->integer >= least && n->integer <= most)
		return (u32)n->integer;
	diag_refuse(scope->diags, "wrong-arguments", n->span,
		    "%s() reads %u to %u bytes, a number that stands in the query", call->text,
		    least, most);
	return 0;
}

/* str(p), str(p, n) */
struct expr *bind_str(struct scope *scope, const struct ast *ast)
{
	struct expr *address, *e;
	u32 n = 0;

	if (ast->n_args < 1 || ast->n_args > 2)
		return wrong(scope, ast, "an address, and how many bytes to read: str(p, 100)");
	address = bind_address(scope, ast->args[0], "str()");
	if (address && ast->n_args == 2)
		n = bind_bytes(scope, ast, ast->args[1], 1, TEXT_BYTES_MAX);
	if (!address || (ast->n_args == 2 && !n))
		return NULL;
	e = bind_read_new(scope, READ_TEXT, ast->span, address, NULL);
	e->integer = n;
	e->name = "str";
	expr_set_type(e, type_text(n ?: TEXT_BYTES));
	return e;
}

/* strs(p), strs(p, n), strs(p, end), strs(p, end, n) */
struct expr *bind_strs(struct scope *scope, const struct ast *ast)
{
	bool has_bytes = ast->n_args > 1 && ast->args[ast->n_args - 1]->kind == AST_INTEGER;
	u32 n_addresses = ast->n_args - has_bytes, n = STRS_BYTES;
	struct expr *addresses[2] = { NULL, NULL }, *e;

	if (n_addresses < 1 || n_addresses > 2)
		return wrong(scope, ast,
			     "the address of pointers to texts, as argv, or from where to where "
			     "texts stand, and how many bytes to read: strs(argv, 200)");
	for (u32 i = 0; i < n_addresses; i++) {
		addresses[i] = bind_address(scope, ast->args[i], "strs()");
		if (!addresses[i])
			return NULL;
	}
	if (has_bytes)
		n = bind_bytes(scope, ast, ast->args[n_addresses], STRS_BYTES_LEAST,
			       TEXT_BYTES_MAX);
	if (!n)
		return NULL;
	e = bind_read_new(scope, READ_TEXTS, ast->span, addresses[0], addresses[1]);
	e->integer = has_bytes ? n : 0;
	e->is_of_user = true;
	e->name = "strs";
	expr_set_type(e, type_text(n));
	return n_addresses > 1 ? bind_of_one_event(scope, e) : e;
}

/* --- Values --- */

bool bind_is_value(struct scope *scope, const struct expr *e)
{
	const struct stream *stream = bind_stream_of(scope, e);

	/* In a file NULL is the type of a column without any value, elsewhere that of structs. */
	if (stream && stream->kind == STREAM_FILE)
		return e->type.kind != TYPE_BLOB;
	if ((stream && stream->fields[e->index].n_elements) ||
	    (e->kind == EXPR_MEMBER && e->member.is_array && !expr_is_text(e)))
		return false;
	/* What the columns of a nested select are was looked at there. */
	return type_is_word(e->type) || e->type.kind == TYPE_TEXT ||
	       (e->kind != EXPR_FIELD && e->kind != EXPR_MEMBER);
}

struct expr *bind_check_value(struct scope *scope, struct expr *e, const struct ast *ast)
{
	bool is_array;

	if (!e || bind_is_value(scope, e))
		return e;
	is_array = e->kind == EXPR_MEMBER ? e->member.is_array : type_is_word(e->type);
	if (e->type.kind == TYPE_NULL && !is_array)
		return diag_refuse(scope->diags, "not-supported", ast->span,
				   "%s is a struct, which cannot be used as a value yet" HINT
				   "name one of its members",
				   written(scope, ast->span, "this"));
	if (is_array)
		return diag_refuse(scope->diags, "not-supported", ast->span,
				   "%s is an array, which cannot be used as a value yet" HINT
				   "name one of its elements: [0] is the first",
				   written(scope, ast->span, "this"));
	return diag_refuse(scope->diags, "not-supported", ast->span,
			   "%s is raw bytes, which cannot be used as a value yet",
			   written(scope, ast->span, "this"));
}
