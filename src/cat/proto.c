/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parameters of a prototype in BTF -> fields of an event: their names, their types as C spells
 * them, and as a query sees them; and what functions have in common.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct field proto_argument(struct catalog *catalog, u32 i)
{
	return (struct field){
		.name = arena_printf(catalog->arena, "arg%u", i),
		.declaration = arena_printf(catalog->arena, "u64 arg%u", i),
		.kind = FIELD_ARG,
		.type = type_int(64, false),
		.offset_bytes = 8 * i,
		.size_bytes = 8,
	};
}

struct field proto_return(struct catalog *catalog, u32 n_args)
{
	struct field ret = proto_argument(catalog, n_args);

	ret.kind = FIELD_RET;
	ret.name = "ret";
	ret.declaration = "u64 ret";
	return ret;
}

bool function_split(struct arena *arena, const char *event, const char **ret_name, u32 *ret_offset)
{
	const char *plus = strchr(event, '+');
	unsigned long offset;
	char *end;

	*ret_name = event;
	*ret_offset = 0;
	if (!plus)
		return *event;
	*ret_name = arena_strndup(arena, event, plus - event);
	errno = 0;
	offset = strtoul(plus + 1, &end, 0);
	*ret_offset = (u32)offset;
	return plus > event && plus[1] >= '0' && plus[1] <= '9' && !*end && !errno &&
	       offset <= UINT32_MAX;
}

/* C spelling of a type, near enough for DESCRIBE: "struct task_struct *", "const u32". */
static void spell(struct btf_blob *btf, u32 id, int depth, struct buf *out)
{
	struct btf_view view;

	if (!id) {
		buf_puts(out, "void");
		return;
	}
	if (depth > 8 || !btf_type(btf, id, &view)) {
		buf_puts(out, "?");
		return;
	}
	switch (view.kind) {
	case BTF_KIND_PTR:
		spell(btf, view.size_or_type, depth + 1, out);
		buf_puts(out, out->n && out->at[out->n - 1] == '*' ? "*" : " *");
		break;
	case BTF_KIND_CONST:
		buf_puts(out, "const ");
		spell(btf, view.size_or_type, depth + 1, out);
		break;
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		spell(btf, view.size_or_type, depth + 1, out);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD:
		buf_puts(out, view.kind == BTF_KIND_UNION ||
					      (view.kind == BTF_KIND_FWD && view.kind_flag)
				      ? "union "
			      : view.kind == BTF_KIND_STRUCT || view.kind == BTF_KIND_FWD
				      ? "struct "
				      : "enum ");
		buf_puts(out, view.name[0] ? view.name : "{}");
		break;
	case BTF_KIND_FUNC_PROTO:
		buf_puts(out, "void (*)()");
		break;
	default:
		buf_puts(out, view.name[0] ? view.name : "?");
	}
}

void proto_set_type(struct catalog *catalog, const char *name, u32 type, struct field *field)
{
	struct btf_blob *btf = &catalog->btf;
	struct buf *text = &catalog->scratch;
	struct catalog_member facts;

	field->btf_type_id = type;
	if (*name)
		field->name = arena_strdup(catalog->arena, name);
	if (!btf_describe(btf, type, &facts))
		field->type = type_is_word(facts.type)
				      ? facts.type
				      : (struct type){ .kind = TYPE_BLOB, .bytes = 8 };
	buf_reset(text);
	spell(btf, type, 0, text);
	buf_printf(text, "%s%s", text->at[text->n - 1] == '*' ? "" : " ", field->name);
	field->declaration = arena_strdup(catalog->arena, text->at);
}
