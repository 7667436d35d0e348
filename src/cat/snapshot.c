/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A snapshot's text, as tests/cat/snapshot.c writes it -> a catalog that answers from it.  A file
 * that is not exactly such a text is refused with the number of its first bad line.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_BYTES_MAX (64u << 20)

const char *const snapshot_fields[] = {
	[FIELD_FIXED] = "fixed",
	[FIELD_DATA_LOC] = "data_loc",
	[FIELD_REL_LOC] = "rel_loc",
	[FIELD_ARG] = "arg",
};
_Static_assert(ARRAY_SIZE(snapshot_fields) == FIELD_N, "a kind of field has no word");

/* The rest of a line that is being read word by word. */
struct words {
	char *at;
	bool is_bad;
};

static const char *take_word(struct words *words)
{
	char *word = words->at, *blank;

	if (!*word || *word == ' ') {
		words->is_bad = true;
		return "";
	}
	blank = strchr(word, ' ');
	if (blank)
		*blank++ = '\0';
	words->at = blank ? blank : word + strlen(word);
	return word;
}

static s64 take_number(struct words *words, s64 low, s64 high)
{
	const char *word = take_word(words);
	char *end;
	s64 number;

	errno = 0;
	number = strtoll(word, &end, 10);
	if (errno || end == word || *end || number < low || number > high) {
		words->is_bad = true;
		return low;
	}
	return number;
}

static u32 take_u32(struct words *words)
{
	return take_number(words, 0, UINT32_MAX);
}

/* The place of a word in a list of them. */
static u32 take_choice(struct words *words, const char *const *choices, u32 n)
{
	const char *word = take_word(words);

	for (u32 i = 0; i < n; i++) {
		if (!strcmp(word, choices[i]))
			return i;
	}
	words->is_bad = true;
	return 0;
}

static struct type take_type(struct words *words)
{
	const char *word = take_word(words);
	struct words number = { .at = (char *)word };
	u64 n;

	if (!strcmp(word, "none"))
		return (struct type){ .kind = TYPE_NULL };
	if (!strcmp(word, "bool"))
		return (struct type){ .kind = TYPE_BOOL, .bits = 8 };
	if (!strcmp(word, "pointer"))
		return (struct type){ .kind = TYPE_POINTER, .bits = 64 };
	if (!strncmp(word, "text:", 5) || !strncmp(word, "blob:", 5)) {
		number.at += 5;
		n = take_u32(&number);
		words->is_bad |= number.is_bad;
		return (struct type){ .kind = word[0] == 't' ? TYPE_TEXT : TYPE_BLOB, .bytes = n };
	}
	if (word[0] == 's' || word[0] == 'u') {
		number.at++;
		n = take_u32(&number);
		if (!number.is_bad && (n == 8 || n == 16 || n == 32 || n == 64))
			return type_int(n, word[0] == 's');
	}
	words->is_bad = true;
	return (struct type){ .kind = TYPE_NULL };
}

static void take_facts(struct words *words, struct catalog_member *facts)
{
	static const char *const pointers[] = { "-", "pointer", "char" };
	u32 pointer;

	facts->size_bytes = take_u32(words);
	facts->btf_type_id = take_u32(words);
	facts->type = take_type(words);
	pointer = take_choice(words, pointers, ARRAY_SIZE(pointers));
	facts->is_pointer = pointer > 0;
	facts->is_char_pointer = pointer == 2;
	facts->pointee_btf_id = take_u32(words);
	facts->n_elements = take_u32(words);
}

struct reader {
	struct catalog *catalog;
	struct stream *stream; /* that takes the next fields */
	u32 capacity;	       /* of its fields */
	bool has_ended;
};

static void read_release(struct reader *reader, struct words *words)
{
	reader->catalog->release = arena_strdup(reader->catalog->arena, words->at);
	words->is_bad = !*words->at;
	words->at += strlen(words->at);
}

static void read_stream(struct reader *reader, struct words *words)
{
	const struct stream_kind_info *kind = stream_kind_named(take_word(words));
	const char *category = take_word(words);
	const char *event = take_word(words);
	struct stream *stream;

	if (!strcmp(category, "-"))
		category = NULL;
	if (words->is_bad || !kind || kind->has_category != (category != NULL)) {
		words->is_bad = true;
		return;
	}
	stream = stream_new(reader->catalog->arena, kind, category, event);
	stream->tracepoint_id = take_u32(words);
	stream->syscall_nr = take_number(words, -1, INT32_MAX);
	vec_push(reader->catalog->arena, &reader->catalog->frozen, stream);
	reader->stream = stream;
	reader->capacity = 0;
}

static void read_field(struct reader *reader, struct words *words)
{
	struct arena *arena = reader->catalog->arena;
	struct stream *stream = reader->stream;
	struct field field = { 0 };

	field.name = arena_strdup(arena, take_word(words));
	field.kind = take_choice(words, snapshot_fields, FIELD_N);
	field.offset_bytes = take_u32(words);
	field.size_bytes = take_u32(words);
	field.n_elements = take_u32(words);
	field.btf_type_id = take_u32(words);
	field.type = take_type(words);
	field.declaration = arena_strdup(arena, words->at);
	if (!stream || !*words->at)
		words->is_bad = true;
	words->at += strlen(words->at);
	if (words->is_bad)
		return;
	if (stream->n_fields == reader->capacity) {
		reader->capacity = reader->capacity ? 2 * reader->capacity : 8;
		stream->fields = arena_grow(arena, stream->fields,
					    stream->n_fields * sizeof(*stream->fields),
					    reader->capacity * sizeof(*stream->fields));
	}
	stream->fields[stream->n_fields++] = field;
}

static void read_id(struct reader *reader, struct words *words)
{
	struct id_fact fact = { .kind = take_u32(words) };

	fact.name = arena_strdup(reader->catalog->arena, take_word(words));
	fact.id = take_u32(words);
	vec_push(reader->catalog->arena, &reader->catalog->ids, fact);
}

static void read_member(struct reader *reader, struct words *words)
{
	struct member_fact fact = { .struct_id = take_u32(words) };

	fact.path = arena_strdup(reader->catalog->arena, take_word(words));
	fact.member.offset_bits = take_number(words, 0, INT64_MAX);
	fact.member.bitfield_bits = take_u32(words);
	take_facts(words, &fact.member);
	vec_push(reader->catalog->arena, &reader->catalog->members, fact);
}

static void read_type(struct reader *reader, struct words *words)
{
	struct type_fact fact = { .id = take_u32(words) };

	take_facts(words, &fact.type);
	vec_push(reader->catalog->arena, &reader->catalog->types, fact);
}

static void read_end(struct reader *reader, struct words *words)
{
	reader->has_ended = true;
}

static const struct {
	const char *name;
	void (*read)(struct reader *reader, struct words *words);
} lines[] = {
	{ "release", read_release }, { "stream", read_stream }, { "field", read_field },
	{ "id", read_id },	     { "member", read_member }, { "type", read_type },
	{ "end", read_end },
};

static bool read_line(struct reader *reader, char *line)
{
	struct words words = { .at = line };
	const char *name = take_word(&words);

	for (u32 i = 0; i < ARRAY_SIZE(lines); i++) {
		if (strcmp(name, lines[i].name) != 0)
			continue;
		lines[i].read(reader, &words);
		return !words.is_bad && !*words.at;
	}
	return false;
}

/* The number of the first bad line, 0 when the text is whole. */
static u32 read_text(struct reader *reader, char *text, size_t n)
{
	char head[32], *next;
	u32 number = 1;

	snprintf(head, sizeof(head), "ebql-catalog %u\n", SNAPSHOT_VERSION);
	if (strlen(text) != n || strncmp(text, head, strlen(head)) != 0)
		return 1;
	for (char *line = text + strlen(head); *line; line = next) {
		number++;
		next = strchr(line, '\n');
		if (!next || reader->has_ended)
			return number;
		*next++ = '\0';
		if (!read_line(reader, line))
			return number;
	}
	return reader->has_ended ? 0 : number + 1;
}

struct catalog *catalog_open_snapshot(struct arena *arena, const char *path, struct diags *diags)
{
	struct reader reader = { 0 };
	struct buf text;
	u32 bad_line;
	int rc;

	buf_init(&text);
	rc = buf_read_file(&text, path, SNAPSHOT_BYTES_MAX);
	if (rc) {
		diag_failure(diags, "bad-snapshot", "cannot read the snapshot %s: %s", path,
			     strerror(-rc));
		buf_free(&text);
		return NULL;
	}
	reader.catalog = arena_new(arena, struct catalog);
	reader.catalog->arena = arena;
	buf_init_in(&reader.catalog->scratch, arena);
	buf_putc(&text, '\0');
	text.n--;
	bad_line = read_text(&reader, text.at, text.n);
	if (bad_line) {
		struct diag *diag =
			diag_failure(diags, "bad-snapshot",
				     "%s is no whole catalog snapshot: line %u", path, bad_line);

		diag_hint(diags, diag, "its first line is \"ebql-catalog %u\", its last \"end\"",
			  SNAPSHOT_VERSION);
	}
	buf_free(&text);
	return bad_line ? NULL : reader.catalog;
}
