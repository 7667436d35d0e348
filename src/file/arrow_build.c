/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Types -> Arrow's, and rows of values -> buffers of columns.
 */
#include "file/arrow_build.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "file/internal.h"

static const char not_of_type[] = FILE_NOT_OF_TYPE;
const char arrow_no_memory[] = "rows for which there is no memory";

/* --- Types --- */

struct part {
	const char *name;
	bool is_lo, is_hi;
	/* Of the part; of no kind: the type that the whole is `of`. */
	struct type type;
};

/* What a special value consists of. */
static const struct special {
	bool is_list; /* of such structs */
	enum value_kind value;
	u32 n;
	struct part parts[4];
} specials[] = {
	[TYPE_HISTOGRAM] = { true,
			     VALUE_HISTOGRAM,
			     3,
			     { { "lo", .is_lo = true },
			       { "hi", .is_hi = true },
			       { "count", .type = { TYPE_INT, 64 } } } },
	[TYPE_QUANTILE] = { false,
			    VALUE_QUANTILES,
			    3,
			    { { "est" }, { "lo", .is_lo = true }, { "hi", .is_hi = true } } },
	[TYPE_LADDER] = { true,
			  VALUE_QUANTILES,
			  4,
			  { { "q", .type = { TYPE_REAL } },
			    { "est" },
			    { "lo", .is_lo = true },
			    { "hi", .is_hi = true } } },
	[TYPE_TOP] = { true,
		       VALUE_TOP,
		       3,
		       { { "value" },
			 { "weight", .type = { TYPE_INT, 64 } },
			 { "error", .type = { TYPE_INT, 64 } } } },
};

/* Of what a special value is. */
static struct type type_of_parts(struct type type)
{
	type.kind = type.of;
	type.of = TYPE_NULL;
	type.bits = 64;
	if (type.kind == TYPE_NULL || type.kind == TYPE_BOOL)
		type.kind = TYPE_INT;
	return type;
}

static enum arrow_type kind_of(struct type type)
{
	switch ((enum type_kind)type.kind) {
	case TYPE_BOOL:
		return ARROW_BOOL;
	case TYPE_INT:
		return type.is_wide ? ARROW_DECIMAL : ARROW_INT;
	case TYPE_POINTER:
		return ARROW_INT;
	case TYPE_DURATION:
		return ARROW_DURATION;
	case TYPE_TIMESTAMP:
		return ARROW_TIMESTAMP;
	case TYPE_TEXT:
		return ARROW_UTF8;
	case TYPE_BLOB:
		return type.bytes ? ARROW_FIXED_BINARY : ARROW_BINARY;
	case TYPE_REAL:
		return ARROW_REAL;
	case TYPE_QUANTILE:
		return ARROW_STRUCT;
	case TYPE_HISTOGRAM:
	case TYPE_LADDER:
	case TYPE_TOP:
		return ARROW_LIST;
	case TYPE_NULL:
	case TYPE_STACK:
		break;
	}
	BUG("a column of no type");
}

static u32 bytes_of(const struct arrow_field *f)
{
	if (f->kind == ARROW_BOOL || f->kind == ARROW_STRUCT)
		return 0;
	if (f->kind == ARROW_UTF8 || f->kind == ARROW_BINARY || f->kind == ARROW_LIST)
		return 4;
	if (f->kind == ARROW_DECIMAL)
		return 16;
	if (f->kind == ARROW_FIXED_BINARY)
		return f->type.bytes;
	return f->type.kind == TYPE_INT ? f->type.bits / 8 : 8;
}

static void init_field(struct arrow_field *f, const char *name, struct type type,
		       struct arena *arena)
{
	const struct special *special;
	struct arrow_field *whole = f;

	*f = (struct arrow_field){ .name = name, .type = type, .kind = kind_of(type) };
	f->bytes = bytes_of(f);
	if (f->kind != ARROW_LIST && f->kind != ARROW_STRUCT)
		return;
	special = &specials[type.kind];
	if (special->is_list) {
		whole = f->children = arena_new(arena, struct arrow_field);
		f->n_children = 1;
		*whole = (struct arrow_field){ .name = "item", .type = type, .kind = ARROW_STRUCT };
	}
	whole->n_children = special->n;
	whole->children = arena_array(arena, struct arrow_field, special->n);
	for (u32 i = 0; i < special->n; i++) {
		const struct part *part = &special->parts[i];

		init_field(&whole->children[i], part->name,
			   part->type.kind ? part->type : type_of_parts(type), arena);
		whole->children[i].is_lo = part->is_lo;
		whole->children[i].is_hi = part->is_hi;
	}
}

/*
 * Of no type are NULL, and sums of texts: each is whole or real, as the texts are.  Rows of single
 * events have no sum of more than 64 bits.  A stack is a text.
 */
static struct type stored_type(struct type type, bool is_window)
{
	if (type.kind == TYPE_NULL && is_window)
		return (struct type){ .kind = TYPE_REAL, .is_wide = true };
	if (type.kind == TYPE_NULL)
		return type_text(0);
	if (type.kind == TYPE_STACK)
		return type_text(0);
	type.is_wide &= is_window;
	return type;
}

static void give_dictionary(struct arrow_frame *frame, struct arrow_field *f, struct arena *arena)
{
	f->dictionary = arena_new(arena, struct arrow_field);
	*f->dictionary = (struct arrow_field){
		.name = f->name, .type = f->type, .kind = f->kind, .bytes = 4
	};
	f->kind = ARROW_INT;
	f->id = frame->n_dictionaries++;
}

/* Columns' names; _other is taken already where it comes behind them. */
static const char **names_of(const struct schema *schema, bool is_window, struct arena *arena)
{
	struct schema all = { .n_columns = schema->n_columns + 1 };

	if (!is_window)
		return file_unique_names(arena, schema);
	all.columns = arena_array(arena, struct column, all.n_columns);
	all.columns[0].name = ARROW_OTHER;
	for (u32 i = 0; i < schema->n_columns; i++)
		all.columns[i + 1] = schema->columns[i];
	return file_unique_names(arena, &all) + 1;
}

static void init_buffers(struct arrow_field *f)
{
	buf_init(&f->validity);
	buf_init(&f->values);
	buf_init(&f->bytes_of);
	buf_init(&f->slots);
	for (u32 i = 0; i < f->n_children; i++)
		init_buffers(&f->children[i]);
	if (f->dictionary)
		init_buffers(f->dictionary);
}

void arrow_frame_init(struct arrow_frame *frame, const struct schema *schema, bool is_window,
		      struct arena *arena)
{
	const char **names = names_of(schema, is_window, arena);
	u32 n = schema->n_columns;

	*frame = (struct arrow_frame){
		.is_window = is_window,
		.root = { .name = "",
			  .kind = ARROW_STRUCT,
			  .n_children = n + is_window,
			  .children = arena_array(arena, struct arrow_field, n + 1) },
	};
	for (u32 i = 0; i < n; i++) {
		struct arrow_field *f = &frame->root.children[i];

		init_field(f, names[i], stored_type(schema->columns[i].type, is_window), arena);
		if (is_window && f->kind == ARROW_UTF8)
			give_dictionary(frame, f, arena);
	}
	if (is_window)
		init_field(&frame->root.children[n], ARROW_OTHER, type_bool(), arena);
	init_buffers(&frame->root);
	buf_init(&frame->text);
	buf_init(&frame->stack);
}

/* --- Buffers --- */

static bool has_offsets(const struct arrow_field *f)
{
	return f->kind == ARROW_UTF8 || f->kind == ARROW_BINARY || f->kind == ARROW_LIST;
}

static void reset_field(struct arrow_field *f)
{
	buf_reset(&f->validity);
	buf_reset(&f->values);
	buf_reset(&f->bytes_of);
	if (f->slots.is_cut)
		buf_reset(&f->slots);
	memset(f->slots.at, 0, f->slots.n);
	f->n = f->n_nulls = 0;
	if (has_offsets(f))
		buf_fill(&f->values, '\0', f->bytes);
	for (u32 i = 0; i < f->n_children; i++)
		reset_field(&f->children[i]);
	if (f->dictionary)
		reset_field(f->dictionary);
}

static void free_field(struct arrow_field *f)
{
	buf_free(&f->validity);
	buf_free(&f->values);
	buf_free(&f->bytes_of);
	buf_free(&f->slots);
	for (u32 i = 0; i < f->n_children; i++)
		free_field(&f->children[i]);
	if (f->dictionary)
		free_field(f->dictionary);
}

void arrow_frame_free(struct arrow_frame *frame)
{
	free_field(&frame->root);
	buf_free(&frame->text);
	buf_free(&frame->stack);
}

u32 arrow_buffers(struct arrow_field *f, struct buf *ret_buffers[3])
{
	ret_buffers[0] = f->n_nulls ? &f->validity : NULL;
	ret_buffers[1] = &f->values;
	ret_buffers[2] = &f->bytes_of;
	if (f->kind == ARROW_STRUCT)
		return 1;
	return f->kind == ARROW_UTF8 || f->kind == ARROW_BINARY ? 3 : 2;
}

static bool is_cut(const struct arrow_field *f)
{
	bool cut = f->validity.is_cut || f->values.is_cut || f->bytes_of.is_cut || f->slots.is_cut;

	for (u32 i = 0; i < f->n_children; i++)
		cut |= is_cut(&f->children[i]);
	return cut || (f->dictionary && is_cut(f->dictionary));
}

static void put_bit(struct buf *bits, u64 i, bool bit)
{
	if (i % 8 == 0)
		buf_putc(bits, '\0');
	if (bit && !bits->is_cut)
		bits->at[i / 8] |= (char)(1 << i % 8);
}

/* The end of what was put last. */
static void put_offset(struct arrow_frame *frame, struct arrow_field *f, u64 end)
{
	u32 offset = (u32)end;

	if (end > INT32_MAX)
		frame->error = "more than a batch of Arrow's can hold";
	buf_put(&f->values, &offset, sizeof(offset));
}

/* --- Texts --- */

/* As UTF-8: each byte that is none becomes U+FFFD, as in JSON. */
static void clean(struct arrow_frame *frame, const char **text, u32 *n)
{
	size_t at = 0, length = 1;

	while (at < *n && (length = utf8_length(*text + at, *n - at)))
		at += length;
	if (at == *n)
		return;
	buf_reset(&frame->text);
	buf_put(&frame->text, *text, at);
	for (; at < *n; at += MAX(length, (size_t)1)) {
		length = utf8_length(*text + at, *n - at);
		buf_put(&frame->text, length ? *text + at : "\xef\xbf\xbd", length ? length : 3);
	}
	if (frame->text.is_cut)
		frame->error = arrow_no_memory;
	*text = frame->text.at;
	*n = (u32)frame->text.n;
}

static void put_text(struct arrow_frame *frame, struct arrow_field *f, const char *text, u32 n)
{
	if (n)
		buf_put(&f->bytes_of, text, n);
	put_offset(frame, f, f->bytes_of.n);
}

/* FNV-1a */
static u32 hash_of(const char *text, u32 n)
{
	u32 hash = 2166136261u;

	for (u32 i = 0; i < n; i++)
		hash = (hash ^ (u8)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* Where the text is, or would be; the table has a place that is free. */
static u32 *find_slot(const struct arrow_field *d, const char *text, u32 n)
{
	const u32 *ends = (const u32 *)d->values.at;
	u32 *slots = (u32 *)d->slots.at, mask = (u32)(d->slots.n / sizeof(u32)) - 1;

	for (u32 i = hash_of(text, n) & mask;; i = (i + 1) & mask) {
		u32 k = slots[i];

		if (!k || (ends[k] - ends[k - 1] == n &&
			   memcmp(d->bytes_of.at + ends[k - 1], text, n) == 0))
			return &slots[i];
	}
}

/* At most half of the places are taken.  false: no memory. */
static bool make_room(struct arrow_field *d)
{
	const u32 *ends = (const u32 *)d->values.at;
	size_t n = d->slots.n / sizeof(u32);

	if (n > 2 * d->n)
		return true;
	buf_reset(&d->slots);
	buf_fill(&d->slots, '\0', MAX(2 * n, (size_t)64) * sizeof(u32));
	for (u32 k = 1; k <= d->n && !d->slots.is_cut; k++)
		*find_slot(d, d->bytes_of.at + ends[k - 1], ends[k] - ends[k - 1]) = k;
	return !d->slots.is_cut;
}

/* The number of the text in the dictionary, which takes it up. */
static u32 number_of(struct arrow_frame *frame, struct arrow_field *d, const char *text, u32 n)
{
	u32 *slot;

	if (!make_room(d) || is_cut(d)) {
		frame->error = arrow_no_memory;
		return 0;
	}
	slot = find_slot(d, text, n);
	if (!*slot) {
		put_text(frame, d, text, n);
		*slot = (u32)++d->n;
	}
	return *slot - 1;
}

/* --- Values --- */

/* What the stored form can hold. */
static void limits_of(const struct arrow_field *f, s128 *ret_min, s128 *ret_max)
{
	if (f->kind == ARROW_DECIMAL) {
		*ret_max = (s128)10000000000000000000ull * 10000000000000000000ull - 1;
		*ret_min = -*ret_max;
	} else if (f->kind == ARROW_DURATION || f->kind == ARROW_TIMESTAMP) {
		*ret_min = INT64_MIN;
		*ret_max = INT64_MAX;
	} else {
		*ret_min = type_min(f->type);
		*ret_max = type_max(f->type);
	}
}

/* false: NULL, since there is no such bound, or the value cannot be had (frame->error). */
static bool word_of(struct arrow_frame *frame, const struct arrow_field *f, const struct value *v,
		    s128 *ret_word)
{
	s128 word = v->integer, min, max;

	/* An infinity among integers is a bound that is not there. */
	if (v->kind == VALUE_REAL && !isfinite(v->real))
		return false;
	if (v->kind == VALUE_REAL && fabs(v->real) < 0x1p53 && trunc(v->real) == v->real)
		word = (s128)v->real;
	else if (v->kind != VALUE_INT) {
		frame->error = not_of_type;
		return false;
	}
	if (f->kind == ARROW_TIMESTAMP && f->type.clock == CLOCK_MONO)
		word += frame->offset_ns;
	limits_of(f, &min, &max);
	*ret_word = word;
	if (word >= min && word <= max)
		return true;
	if (f->kind == ARROW_DECIMAL)
		frame->error = "a sum of more than 38 digits, which Arrow cannot hold";
	else if (!(f->is_lo && word < min) && !(f->is_hi && word > max))
		frame->error = f->kind == ARROW_INT || f->kind == ARROW_BOOL
				       ? not_of_type
				       : "a duration or time of 2^63 ns or more, which Arrow "
					 "cannot hold";
	return false;
}

static double real_of(struct arrow_frame *frame, const struct arrow_field *f, const struct value *v)
{
	double real = 0;

	if (v->kind == VALUE_REAL)
		real = v->real;
	else if (v->kind == VALUE_INT)
		real = (double)v->integer;
	else if (v->kind == VALUE_QUANTILES && v->quantiles->is_interpolated)
		real = v->quantiles->interpolated;
	else if (v->kind == VALUE_QUANTILES)
		real = (double)v->quantiles->estimate;
	else
		frame->error = not_of_type;
	/* It must not be rounded where it is whole. */
	if (f->type.is_wide && v->kind == VALUE_INT &&
	    (fabs(real) >= 0x1p126 || (s128)real != v->integer))
		frame->error = "a whole number that no double holds exactly, of no type: CAST(x "
			       "AS INTEGER) and the like give one";
	return real;
}

static void put_value(struct arrow_frame *frame, struct arrow_field *f, const struct value *v);

/* A quantile, or number i of a ladder's; a cell of a histogram, a value of a top list. */
static void parts_of(struct type type, const struct value *v, u32 i, struct value parts[4])
{
	const struct quantile *q;
	u32 n = 0;

	if (type.kind != TYPE_QUANTILE && type.kind != TYPE_LADDER) {
		special_row(v, i, parts);
		return;
	}
	for (u32 part = 0; part < 4; part++)
		parts[part] = (struct value){ .kind = VALUE_NULL };
	if (v->kind != VALUE_QUANTILES) {
		parts[0] = *v; /* its estimate alone */
		return;
	}
	q = &v->quantiles[i];
	if (type.kind == TYPE_LADDER)
		parts[n++] = (struct value){ .kind = VALUE_REAL, .real = q->q_ppb / 1e9 };
	if (q->is_interpolated)
		parts[n++] = (struct value){ .kind = VALUE_REAL, .real = q->interpolated };
	else
		parts[n++] = (struct value){ .kind = VALUE_INT, .integer = q->estimate };
	if (q->has_lo)
		parts[n] = (struct value){ .kind = VALUE_INT, .integer = q->lo };
	if (q->has_hi)
		parts[n + 1] = (struct value){ .kind = VALUE_INT, .integer = q->hi };
}

static void put_struct(struct arrow_frame *frame, struct arrow_field *f, const struct value *v,
		       u32 i)
{
	struct value parts[4] = { { .kind = VALUE_NULL }, { 0 }, { 0 }, { 0 } };

	put_bit(&f->validity, f->n++, v != NULL);
	f->n_nulls += !v;
	if (v)
		parts_of(f->type, v, i, parts);
	for (u32 part = 0; part < f->n_children; part++)
		put_value(frame, &f->children[part], &parts[part]);
}

static void put_list(struct arrow_frame *frame, struct arrow_field *f, const struct value *v)
{
	u32 n = !v ? 0 : f->type.kind == TYPE_LADDER ? v->n : special_n_rows(v);

	for (u32 i = 0; i < n; i++)
		put_struct(frame, f->children, v, i);
	put_offset(frame, f, f->children->n);
}

static void put_bytes(struct arrow_frame *frame, struct arrow_field *f, const struct value *v)
{
	const char *text = v ? v->text : NULL;
	u32 n = v ? v->n : 0, number = 0;

	if (v && frame->is_window && f->type.kind == TYPE_TEXT)
		clean(frame, &text, &n);
	if (f->dictionary) {
		number = v ? number_of(frame, f->dictionary, text, n) : 0;
		buf_put(&f->values, &number, sizeof(number));
	} else if (f->kind != ARROW_FIXED_BINARY) {
		put_text(frame, f, text, n);
	} else if (!v) {
		buf_fill(&f->values, '\0', f->bytes);
	} else if (n == f->bytes) {
		buf_put(&f->values, text, n);
	} else {
		frame->error = not_of_type;
	}
}

static void put_word(struct arrow_field *f, s128 word)
{
	if (f->kind == ARROW_BOOL)
		put_bit(&f->values, f->n, word);
	else
		buf_put(&f->values, &word, f->bytes); /* little-endian, as the machine */
}

static void put_value(struct arrow_frame *frame, struct arrow_field *f, const struct value *v)
{
	bool is_bytes = f->type.kind == TYPE_TEXT || f->type.kind == TYPE_BLOB;
	const struct value *there = v->kind == VALUE_NULL ? NULL : v;
	struct value folded;
	double real = 0;
	s128 word = 0;

	if (f->kind == ARROW_STRUCT) {
		put_struct(frame, f, there, 0);
		return;
	}
	if (v->kind == VALUE_STACK && is_bytes) {
		buf_reset(&frame->stack);
		stack_put_folded(v->stack, &frame->stack);
		folded = (struct value){ .kind = VALUE_TEXT,
					 .n = (u32)frame->stack.n,
					 .text = frame->stack.at };
		there = v = &folded;
	}
	if (there && (is_bytes		      ? v->kind != VALUE_TEXT
		      : f->kind == ARROW_LIST ? v->kind != specials[f->type.kind].value
					      : false)) {
		frame->error = not_of_type;
		there = NULL;
	}
	if (is_bytes) {
		put_bytes(frame, f, there);
	} else if (f->kind == ARROW_LIST) {
		put_list(frame, f, there);
	} else if (f->kind == ARROW_REAL) {
		real = there ? real_of(frame, f, there) : 0;
		buf_put(&f->values, &real, sizeof(real));
	} else {
		there = there && word_of(frame, f, there, &word) ? there : NULL;
		put_word(f, there ? word : 0);
	}
	put_bit(&f->validity, f->n++, there != NULL);
	f->n_nulls += !there;
}

bool arrow_frame_set(struct arrow_frame *frame, const struct value *values, u32 n_rows,
		     s64 other_row)
{
	u32 n = frame->root.n_children - frame->is_window;
	struct value mark = { .kind = VALUE_INT };

	reset_field(&frame->root);
	frame->error = frame->column = NULL;
	for (u32 row = 0; row < n_rows && !frame->error; row++, values += n) {
		for (u32 i = 0; i < n && !frame->error; i++) {
			put_value(frame, &frame->root.children[i], &values[i]);
			frame->column = frame->error ? frame->root.children[i].name : NULL;
		}
		mark.integer = other_row >= 0 && row >= other_row;
		if (frame->is_window)
			put_value(frame, &frame->root.children[n], &mark);
	}
	frame->root.n = n_rows;
	if (is_cut(&frame->root))
		frame->error = arrow_no_memory;
	return !frame->error;
}
