/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A field of a tracepoint -> an expression over the typed arguments of the raw tracepoint of
 * that name, by fields.sql; what does not fit this kernel's BTF and format file has none.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/bind.h"
#include "plan/views.h"

struct raw_twin {
	const char *items; /* of the tracepoint in fields.sql */
	const struct stream *raw;
	struct plan_context context;
	struct bind_shared shared;
	struct settings settings;
	struct diags diags;
	struct scope scope;
};

/* Is it among the names, which blanks and ends of lines part? */
static bool is_named(const char *names, size_t n, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = names; at < names + n; at += strspn(at, " \n")) {
		size_t word = strcspn(at, " \n");

		if (word == length && memcmp(at, name, word) == 0)
			return true;
		at += word;
	}
	return false;
}

/* Paragraphs are names in lines without an indent, and the indented items behind them. */
static const char *find_items(const char *name)
{
	const char *at = fields_sql, *end, *items;

	for (; (at = strstr(at, "\n\n")); at = end) {
		at += 2;
		end = strstr(at, "\n\n");
		end = end ? end : at + strlen(at);
		while (*at == '-')
			at += strcspn(at, "\n") + 1;
		items = strstr(at, "\n\t");
		if (items && items < end && is_named(at, (size_t)(items - at), name))
			return items;
	}
	return NULL;
}

static bool is_iterator(const struct stream *stream)
{
	return stream->kind == STREAM_ITERATOR;
}

struct raw_twin *raw_twin_open(struct catalog *catalog, struct arena *arena,
			       const struct stream *stream)
{
	const char *path[2] = { is_iterator(stream) ? "iter" : "raw_tracepoint", stream->event };
	const char *name = arena_printf(arena, "%s:%s", stream->category ?: path[0], stream->event);
	struct raw_twin *t = arena_new(arena, struct raw_twin);
	struct stream_list *list;
	struct from_member member;
	struct plan *scan;

	t->items = find_items(name);
	name = arena_printf(arena, "btf_trace_%s", stream->event);
	if (!t->items || (!is_iterator(stream) && !catalog_btf_id(catalog, BTF_KIND_TYPEDEF, name)))
		return NULL;
	t->shared.context = &t->context;
	settings_init(&t->settings);
	t->scope = (struct scope){ .arena = arena,
				   .diags = &t->diags,
				   .catalog = catalog,
				   .settings = &t->settings,
				   .shared = &t->shared };
	diags_init(&t->diags, arena, "fields.sql", "", 0);
	list = catalog_find(catalog, path, 2, (struct span){ 0 }, &t->diags);
	if (!list)
		return NULL;
	scan = bind_scan(&t->scope, list, NULL, (struct span){ 0 });
	member = bind_stream_member(&t->scope, scan);
	member.has_system = true;
	vec_push(arena, &t->scope.members, member);
	t->raw = list->streams.at[0];
	return t;
}

const struct stream *raw_twin_stream(const struct raw_twin *twin)
{
	return twin->raw;
}

/* ENUM.NAME, whose number it is, or struct NAME.MEMBER: does BTF have it? */
static bool fact_find(struct catalog *catalog, char *name, s64 *ret_number)
{
	char *dot = strchr(name, '.');
	struct catalog_member member;

	*dot = '\0';
	if (strncmp(name, "struct ", 7) != 0)
		return catalog_enumerator(catalog, name, dot + 1, ret_number);
	return catalog_member(catalog, catalog_btf_id(catalog, BTF_KIND_STRUCT, name + 7), dot + 1,
			      NULL, &member) == 0;
}

/*
 * The n bytes of an expression for the field with what stands in braces resolved; NULL: it does
 * not hold.
 */
static const char *resolve(const struct scope *scope, const struct field *f, const char *text,
			   size_t n, const char **ret_note)
{
	const char *end = text + n;
	struct buf out;

	*ret_note = NULL;
	buf_init_in(&out, scope->arena);
	for (const char *brace; (brace = memchr(text, '{', (size_t)(end - text)));) {
		size_t length = strcspn(brace + 1, "}");
		char *name = arena_strndup(scope->arena, brace + 1, length);
		char sign = strchr("+-!", *name) ? *name++ : 0, *rest = strpbrk(name, "?:|");
		char *other = rest && *rest == '?' ? strchr(rest, ':') : NULL;
		s64 number = 0;
		bool holds;

		if (rest)
			*rest++ = '\0';
		if (other)
			*other++ = '\0';
		holds = strchr(name, '.') ? fact_find(scope->catalog, name, &number)
					  : f->size_bytes >= strtoul(name, NULL, 10);
		buf_put(&out, text, (size_t)(brace - text));
		text = brace + length + 2;
		if (sign == '!' && !holds)
			*ret_note = rest;
		else if (other || (!sign && !holds && rest))
			buf_puts(&out, holds || !other ? rest : other);
		else if (holds == (sign == '-'))
			return NULL;
		else if (!sign)
			buf_printf(&out, "%lld", (long long)number);
	}
	buf_put(&out, text, (size_t)(end - text));
	return out.at;
}

struct check {
	bool is_refused;
	u32 pid_ns; /* of an iterator's objects; 0: none */
};

/*
 * Typed loads fail for nobody, so nothing is NULL.  What was not written by the user has no place
 * in the query's text.
 */
static void settle(void *context, struct expr *e)
{
	struct check *check = context;

	e->nullable = false;
	e->span = (struct span){ 0, 0 };
	if (e->kind == EXPR_SYSTEM && check->pid_ns) {
		e->pid_ns = check->pid_ns;
		e->nullable = true;
	}
	if (e->kind == EXPR_FIELD)
		e->source = RAW_SOURCE;
	if (e->kind == EXPR_MEMBER)
		check->is_refused |= e->member.bitfield_bits || e->read != READ_MEMBER ||
				     (e->member.is_array && !expr_is_text(e)) ||
				     e->member.offset_bits % 8;
}

/*
 * Is it one of the field's values, as they are or as C would assign them?  is_probed: none is a
 * plain load.
 */
static bool is_of_type(const struct expr *e, const struct field *f, bool is_probed)
{
	bool is_leaf = e->kind == EXPR_FIELD || (e->kind == EXPR_MEMBER && !e->is_percpu);

	if (f->n_elements)
		return false;
	if (f->type.kind == TYPE_TEXT && type_is_word(e->type))
		return !is_leaf && f->kind == FIELD_FIXED;
	if (f->type.kind == TYPE_TEXT)
		return e->type.kind == TYPE_TEXT &&
		       (f->kind == FIELD_FIXED ? e->type.bytes == f->type.bytes
					       : e->type.bytes <= f->type.bytes) &&
		       (e->kind != EXPR_MEMBER || e->member.is_char_pointer || is_probed ||
			(e->type.bytes % 8 == 0 && e->member.offset_bits % 64 == 0));
	return type_is_word(f->type) && type_is_word(e->type) &&
	       (!is_leaf ||
		(e->type.bits == f->type.bits && e->type.is_signed == f->type.is_signed));
}

static struct expr *bind_item(struct raw_twin *t, const char *text)
{
	struct check check = { false };
	const struct pid_ns ns = catalog_pid_ns(t->scope.catalog);
	struct ast_script *script;
	struct expr *e = NULL;

	text = arena_printf(t->scope.arena, "SELECT %s", text);
	diags_init(&t->diags, t->scope.arena, "fields.sql", text, strlen(text));
	script = sql_parse(t->scope.arena, &t->diags);
	BUG_ON(diags_failed(&t->diags));
	t->scope.select = script->statements.at[0].select;
	e = bind_expr(&t->scope, t->scope.select->items.at[0].expr);
	if (!e)
		return NULL;
	if (is_iterator(t->raw))
		check.pid_ns = ns.ino ? (u32)ns.ino : PID_NS_INITIAL;
	expr_each(e, settle, &check);
	return check.is_refused || expr_can_fail(e) ? NULL : e;
}

/* "EXPRESSION AS NAME", or NAME:BYTES at most: does it define the field? */
static bool defines(const char *name, const char *end, const struct field *f)
{
	size_t n = strcspn(name, ":;");

	return name + n <= end && strlen(f->name) == n && memcmp(name, f->name, n) == 0 &&
	       (name[n] != ':' || strtoul(name + n + 1, NULL, 10) >= f->size_bytes);
}

/* The semicolon behind the item, or NULL: those in comments end none. */
static const char *item_end(const char *at)
{
	for (; *at && *at != ';'; at++)
		if (at[0] == '-' && at[1] == '-')
			at += strcspn(at, "\n") - 1;
	return *at ? at : NULL;
}

struct expr *raw_twin_field(struct raw_twin *twin, const struct field *f, const char **ret_note)
{
	const char *at = twin->items, *end = strstr(at, "\n\n");

	for (const char *next, *as; (next = item_end(at)) && (!end || next < end); at = next + 1) {
		for (as = next; strncmp(as, " AS ", 4) != 0 && strncmp(as, "\tAS ", 4) != 0; as--)
			;
		if (!defines(as + 4, next, f))
			continue;
		at += strspn(at, " \t\n");
		bool is_percpu = strncmp(at, "{%}", 3) == 0;
		const char *text = resolve(&twin->scope, f, at + (is_percpu ? 3 : 0),
					   (size_t)(as - at) - (is_percpu ? 3 : 0), ret_note);
		struct expr *e = text ? bind_item(twin, text) : NULL;

		if (e)
			e->is_percpu = is_percpu;
		if (e && is_of_type(e, f, is_iterator(twin->raw)))
			return e;
	}
	return NULL;
}
