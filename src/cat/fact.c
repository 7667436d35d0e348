/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a query relies on in a kernel -> a line each, as "member struct file.f_path: struct path,
 * at 16".  What stands behind the comma is found anew in each kernel: it breaks nothing.
 */
#include "cat/internal.h"

#include <errno.h>

const char *catalog_struct_name(struct catalog *catalog, u32 struct_btf_id)
{
	struct btf_blob *btf = catalog_btf(catalog);
	struct btf_view view;

	if (!btf || !btf_resolve(btf, struct_btf_id, &view))
		return "?";
	return arena_printf(catalog->arena, "%s %s",
			    view.kind == BTF_KIND_UNION ? "union" : "struct",
			    view.name[0] ? view.name : "without a name");
}

/* Of a struct that is only embedded no size: it may grow. */
void catalog_put_type(struct catalog *catalog, const struct catalog_member *facts, struct buf *out)
{
	struct catalog_member element;
	u32 id = facts->is_pointer ? facts->pointee_btf_id : facts->btf_type_id;
	bool is_struct = facts->is_pointer || facts->type.kind == TYPE_NULL;

	if (facts->is_array && is_struct &&
	    catalog_btf_type(catalog, facts->element_btf_id, &element) == 0) {
		catalog_put_type(catalog, &element, out);
		is_struct = false;
	} else if (facts->is_array || !is_struct) {
		type_print(facts->type, out);
	}
	if (facts->is_pointer)
		buf_puts(out, facts->is_char_pointer ? "pointer to char" : "pointer");
	if (is_struct && id)
		buf_printf(out, "%s%s", facts->is_pointer ? " to " : "",
			   catalog_struct_name(catalog, id));
	if (facts->n_elements && facts->type.kind != TYPE_TEXT)
		buf_printf(out, "[%u]", facts->n_elements);
	if (facts->bitfield_bits)
		buf_printf(out, ":%u", facts->bitfield_bits);
}

static void add_member(struct catalog *catalog, u32 struct_btf_id, const char *name,
		       const struct catalog_member *member)
{
	struct buf *out = catalog->facts;

	buf_printf(out, "member %s.%s: ", catalog_struct_name(catalog, struct_btf_id), name);
	catalog_put_type(catalog, member, out);
	buf_printf(out, ", at %llu", (unsigned long long)member->offset_bits / 8);
	if (member->offset_bits % 8)
		buf_printf(out, " bit %u", (u32)(member->offset_bits % 8));
	buf_putc(out, '\n');
}

int catalog_member(struct catalog *catalog, u32 struct_btf_id, const char *name,
		   struct suggest *suggest, struct catalog_member *ret_member)
{
	struct btf_blob *btf = catalog_btf(catalog);
	int error = btf ? btf_find_member(btf, struct_btf_id, name, suggest, ret_member) : -ENODATA;

	if (!error && catalog->facts)
		add_member(catalog, struct_btf_id, name, ret_member);
	return error;
}

void catalog_tell_facts(struct catalog *catalog, struct buf *out)
{
	catalog->facts = out;
}

void catalog_add_field(struct catalog *catalog, const struct stream *stream,
		       const struct field *field)
{
	struct catalog_member facts = { .type = field->type, .n_elements = field->n_elements };
	struct buf *out = catalog->facts;

	if (field->btf_type_id)
		catalog_btf_type(catalog, field->btf_type_id, &facts);
	buf_printf(out, "field %s.%s: ", stream->name, field->name);
	catalog_put_type(catalog, &facts, out);
	if (field->kind == FIELD_ARG)
		buf_printf(out, " as argument %u", field->offset_bytes / 8 + 1);
	else if (field->kind != FIELD_RET)
		buf_printf(out, "%s, at %u", field->kind == FIELD_FIXED ? "" : " of any length",
			   field->offset_bytes);
	buf_putc(out, '\n');
}
