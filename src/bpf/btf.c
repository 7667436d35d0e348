/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Spans of the query -> a BTF blob with one function and its line records.
 * Format: Documentation/bpf/btf.rst.  The kernel wants func_info whenever there
 * is line_info, a record for the first instruction, ascending places, and none
 * in the second half of a 16-byte instruction (check_btf_line() in
 * kernel/bpf/verifier.c).
 */
#include <linux/btf.h>
#include <string.h>

#include "bpf/ir.h"

#define COLUMN_MAX 1023 /* 10 bits of line_col */

enum type_id { TYPE_INT = 1, TYPE_POINTER, TYPE_PROTO, TYPE_FUNC };

/* The raw types in the order of their ids. */
struct types {
	struct btf_type int_type;
	u32 int_bits;
	struct btf_type pointer; /* void *: the context */
	struct btf_type proto;
	struct btf_param param;
	struct btf_type func;
};

struct line_table {
	u32 *starts;  /* of each line, in the query text */
	u32 *strings; /* of each line, in the string section */
	u32 n;
	u32 file; /* "query" in the string section */
};

static u32 add_string(struct buf *strings, const char *text, size_t n)
{
	u32 at = (u32)strings->n;

	buf_put(strings, text, n);
	buf_putc(strings, '\0');
	return at;
}

static struct types make_types(struct buf *strings, const char *program_name)
{
	return (struct types){
		.int_type = { .name_off = add_string(strings, "int", 3),
			      .info = BTF_KIND_INT << 24,
			      .size = 4 },
		.int_bits = BTF_INT_SIGNED << 24 | 32,
		.pointer = { .info = BTF_KIND_PTR << 24 },
		.proto = { .info = BTF_KIND_FUNC_PROTO << 24 | 1, .type = TYPE_INT },
		.param = { .name_off = add_string(strings, "ctx", 3), .type = TYPE_POINTER },
		.func = { .name_off = add_string(strings, program_name, strlen(program_name)),
			  .info = BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC,
			  .type = TYPE_PROTO },
	};
}

static struct line_table make_lines(struct buf *strings, const char *text, struct arena *arena)
{
	struct line_table lines = { .file = add_string(strings, "query", 5) };
	size_t start = 0, text_bytes = strlen(text);

	for (size_t i = 0; i <= text_bytes; i++)
		lines.n += i == text_bytes || text[i] == '\n';
	lines.starts = arena_array(arena, u32, lines.n);
	lines.strings = arena_array(arena, u32, lines.n);
	for (u32 line = 0; line < lines.n; line++) {
		const char *end = memchr(text + start, '\n', text_bytes - start);
		size_t n = end ? (size_t)(end - text) - start : text_bytes - start;

		lines.starts[line] = (u32)start;
		lines.strings[line] = add_string(strings, text + start, n);
		start += n + 1;
	}
	return lines;
}

static struct bpf_line_info line_record(const struct line_table *lines, u32 insn, struct span span)
{
	u32 low = 0, high = lines->n;
	u32 column;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (lines->starts[middle] <= span.start)
			low = middle;
		else
			high = middle;
	}
	column = MIN(span.start - lines->starts[low] + 1, (u32)COLUMN_MAX);
	return (struct bpf_line_info){ .insn_off = insn,
				       .file_name_off = lines->file,
				       .line_off = lines->strings[low],
				       .line_col = (low + 1) << 10 | column };
}

static void make_records(const struct bpf_code *code, const struct line_table *lines,
			 u32 text_bytes, struct arena *arena, struct bpf_debug_info *ret_info)
{
	struct span last = { 0, 0 };

	ret_info->lines = arena_array(arena, struct bpf_line_info, code->n_insns);
	for (u32 i = 0; i < code->n_insns; i++) {
		struct span span = code->spans[i];

		/* Instructions that belong to nothing stay with those before them. */
		if (i > 0 && span.start == span.end)
			span = last;
		span.start = MIN(span.start, text_bytes);
		if (i == 0 || span.start != last.start || span.end != last.end)
			ret_info->lines[ret_info->n_lines++] = line_record(lines, i, span);
		last = span;
		if (code->insns[i].code == (BPF_LD | BPF_IMM | BPF_DW))
			i++;
	}
}

void bpf_debug_info_build(const struct bpf_code *code, const char *program_name,
			  const char *query_text, struct arena *arena,
			  struct bpf_debug_info *ret_info)
{
	struct btf_header header = { .magic = BTF_MAGIC,
				     .version = BTF_VERSION,
				     .hdr_len = sizeof(header),
				     .type_len = sizeof(struct types),
				     .str_off = sizeof(struct types) };
	const char *text = query_text ? query_text : "";
	struct line_table lines;
	struct types types;
	struct buf strings;
	u8 *at;

	*ret_info = (struct bpf_debug_info){ 0 };
	buf_init_in(&strings, arena);
	buf_putc(&strings, '\0');
	types = make_types(&strings, program_name);
	lines = make_lines(&strings, text, arena);
	header.str_len = (u32)strings.n;
	ret_info->btf_bytes = sizeof(header) + sizeof(types) + header.str_len;
	at = ret_info->btf = arena_alloc(arena, ret_info->btf_bytes);
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), &types, sizeof(types));
	memcpy(at + sizeof(header) + sizeof(types), strings.at, strings.n);
	ret_info->funcs = arena_new(arena, struct bpf_func_info);
	ret_info->funcs[0] = (struct bpf_func_info){ .insn_off = 0, .type_id = TYPE_FUNC };
	ret_info->n_funcs = 1;
	make_records(code, &lines, (u32)strlen(text), arena, ret_info);
}
