/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * JSON lines <-> rows: one object a line.  Our own files begin with a line that holds the
 * columns, {"ebql": {"columns": [{"name": "time", "type": "TIMESTAMP"}, ...]}}; without it
 * the columns are the members of all objects, in the order in which they appear, and
 * values that are arrays or objects are their JSON text.
 */
#include <errno.h>
#include <string.h>

#include "file/internal.h"
#include "file/json.h"

struct jsonl_file {
	struct file file;
	const char **keys; /* as written: the columns' names are unique */
	u32 *key_bytes;
	bool has_head; /* the first line is ours */
};

struct jsonl_learn {
	struct arena *arena;
	VEC(struct column) columns;
	VEC(const char *) keys;
	VEC(u32) key_bytes;
	VEC(struct file_guess) guesses;
	VEC(u64) seen; /* the line a member was last seen in */
	bool has_head;
	u32 last; /* the column found last: the next is usually the one behind it */
};

/* 1: a line without its end, 0: none is left, -errno after a diagnostic. */
static int next_line(struct file_pass *pass, struct json *ret_json)
{
	struct reader *reader = &pass->reader;
	size_t looked = 0;
	char *newline = NULL;
	int error;

	while (!newline) {
		error = reader_need(reader, looked + 1);
		if (error)
			return file_complain_read(pass, error);
		if (reader_has(reader) == looked)
			break;
		newline = memchr(reader->buf + reader->start + looked, '\n',
				 reader_has(reader) - looked);
		looked = reader_has(reader);
		if (looked > FILE_ROW_BYTES_MAX)
			return file_complain(pass, "a line of more than %u bytes",
					     FILE_ROW_BYTES_MAX);
	}
	if (!newline && !looked)
		return 0;
	pass->place++;
	*ret_json = (struct json){ .at = reader->buf + reader->start,
				   .end = newline ? newline : reader->buf + reader->end };
	reader->start = (size_t)(ret_json->end - reader->buf) + (newline ? 1 : 0);
	if (pass->place == 1 && ret_json->end - ret_json->at >= 3 &&
	    memcmp(ret_json->at, "\xef\xbb\xbf", 3) == 0)
		ret_json->at += 3;
	return 1;
}

/* The next line that is not blank, behind its "{". */
static int next_object(struct file_pass *pass, struct json *ret_json)
{
	int rc;

	do {
		rc = next_line(pass, ret_json);
		if (rc <= 0)
			return rc;
		json_skip_space(ret_json);
	} while (ret_json->at == ret_json->end);
	if (!json_take(ret_json, '{', "a line is no JSON object"))
		return file_complain(pass, "%s", ret_json->error);
	return 1;
}

/* Behind "}". */
static int end_object(struct file_pass *pass, struct json *json)
{
	if (!json->error) {
		json_skip_space(json);
		if (json->at == json->end)
			return 0;
		json->error = "more than one value in a line";
	}
	return file_complain(pass, "%s", json->error);
}

static bool is_text(const struct json_value *value, const char *text)
{
	return value->n == strlen(text) && memcmp(value->text, text, value->n) == 0;
}

/* --- The line of columns --- */

static void add_column(struct jsonl_learn *l, const char *key, size_t n, struct type type)
{
	const char *name = arena_strndup(l->arena, key, n);

	vec_push(l->arena, &l->columns, (struct column){ name, type });
	vec_push(l->arena, &l->keys, name);
	vec_push(l->arena, &l->key_bytes, (u32)n);
	vec_push(l->arena, &l->guesses, (struct file_guess){ 0 });
	vec_push(l->arena, &l->seen, 0);
}

/* The member of an object; false when it is none, or has none of this name. */
static bool find_member(const struct json_value *object, const char *name,
			struct json_value *ret_value)
{
	struct json json = { .at = object->text + 1, .end = object->text + object->n };
	struct json_value key, value;
	bool is_first = true;

	*ret_value = (struct json_value){ 0 };
	if (object->kind != JSON_NESTED || object->text[0] != '{')
		return false;
	while (json_key(&json, &is_first, &key) == 1 && json_value(&json, &value))
		if (is_text(&key, name))
			*ret_value = value;
	return !json.error && ret_value->text;
}

static bool head_column(struct jsonl_learn *l, const struct json_value *column)
{
	struct json_value name, type;
	struct type known;

	if (!find_member(column, "name", &name) || name.kind != JSON_STRING ||
	    !find_member(column, "type", &type) || type.kind != JSON_STRING ||
	    !file_type_of(type.text, type.n, &known) || l->columns.n == FILE_COLUMNS_MAX)
		return false;
	json_decode(&name);
	add_column(l, name.text, name.n, known);
	return true;
}

/* The value of "ebql". */
static bool head_columns(struct jsonl_learn *l, const struct json_value *head)
{
	struct json_value value, columns;
	bool is_first = true;
	struct json json;
	int rc;

	if (!find_member(head, "columns", &columns) || columns.kind != JSON_NESTED ||
	    columns.text[0] != '[')
		return false;
	json = (struct json){ .at = columns.text + 1, .end = columns.text + columns.n };
	while ((rc = json_element(&json, &is_first, &value)) == 1)
		if (!head_column(l, &value))
			return false;
	return rc == 0;
}

/* Is the first line ours?  1: yes, 0: no, -errno. */
static int take_head(struct jsonl_learn *l, struct file_pass *pass, struct json json)
{
	struct json_value key, value;
	bool is_first = true;

	if (json_key(&json, &is_first, &key) != 1 || !is_text(&key, "ebql") ||
	    !json_value(&json, &value) || !json_take(&json, '}', "") || value.kind != JSON_NESTED)
		return 0;
	if (!head_columns(l, &value))
		return file_complain(pass, "a line of columns that is not known here");
	l->has_head = true;
	return 1;
}

/* --- Values --- */

static bool word_of(struct type type, const struct json_value *value, struct value *ret)
{
	s128 integer;

	if (value->kind == JSON_FALSE || value->kind == JSON_TRUE)
		integer = value->kind == JSON_TRUE;
	else if (value->kind != JSON_NUMBER || !file_integer_of(value->text, value->n, &integer))
		return false;
	if ((value->kind != JSON_NUMBER) != (type.kind == TYPE_BOOL) || integer < type_min(type) ||
	    integer > type_max(type))
		return false;
	*ret = (struct value){ .kind = VALUE_INT, .integer = integer };
	return true;
}

static bool real_of(const struct json_value *value, struct value *ret)
{
	ret->kind = VALUE_REAL;
	if (value->kind == JSON_NUMBER)
		return file_real_of(value->text, value->n, &ret->real);
	return value->kind == JSON_STRING && file_special_of(value->text, value->n, &ret->real);
}

/* false: the value is none of the column's type. */
static bool jsonl_value(bool has_head, struct type type, struct json_value *value,
			struct value *ret)
{
	*ret = (struct value){ .kind = VALUE_NULL };
	if (value->kind == JSON_NULL)
		return true;
	if (type_is_word(type))
		return word_of(type, value, ret);
	if (type.kind == TYPE_REAL)
		return real_of(value, ret);
	if (has_head && value->kind != JSON_STRING)
		return false;
	if (value->kind == JSON_STRING)
		json_decode(value);
	if (type.kind == TYPE_BLOB) {
		if (value->n != 2 * (size_t)type.bytes ||
		    !file_hex_decode(value->text, (u32)value->n))
			return false;
		value->n /= 2;
	}
	*ret = (struct value){ .kind = VALUE_TEXT, .n = (u32)value->n, .text = value->text };
	return !type.bytes || value->n <= type.bytes;
}

/* "k": "x" is no INTEGER */
static int complain_value(struct file_pass *pass, const struct column *column,
			  const struct json_value *value)
{
	struct buf type;
	int rc;

	buf_init(&type);
	file_put_type(&type, column->type);
	rc = file_complain(pass, "the value of \"%s\" is %.*s%s, which is no %s", column->name,
			   (int)MIN(value->n, (size_t)40), value->text, value->n > 40 ? "..." : "",
			   type.at);
	buf_free(&type);
	return rc;
}

/* --- Learning --- */

/* The column of a key, or n. */
static u32 find_key(const char *const *keys, const u32 *key_bytes, u32 n, u32 likely,
		    const struct json_value *key)
{
	for (u32 i = 0; i < n; i++) {
		u32 at = likely + i < n ? likely + i : likely + i - n;

		if (key_bytes[at] == key->n && memcmp(keys[at], key->text, key->n) == 0)
			return at;
	}
	return n;
}

static void learn_value(struct file_guess *g, const struct json_value *value, u64 place)
{
	struct json_value text = *value;

	switch (value->kind) {
	case JSON_NULL:
		file_guess_null(g, place);
		break;
	case JSON_FALSE:
	case JSON_TRUE:
		g->has_bool = true;
		g->longest_bytes = MAX(g->longest_bytes, (u32)value->n);
		break;
	case JSON_NUMBER:
		file_guess_number(g, value->text, value->n, place);
		break;
	case JSON_STRING:
		file_guess_text(g, json_decode(&text), place);
		break;
	case JSON_NESTED:
		file_guess_text(g, value->n, place);
		break;
	}
}

static int learn_row(struct jsonl_learn *l, struct file_pass *pass, struct json *json)
{
	struct json_value key, value;
	struct value unused;
	bool is_first = true;
	u32 i;

	while (json_key(json, &is_first, &key) == 1 && json_value(json, &value)) {
		json_decode(&key);
		i = find_key(l->keys.at, l->key_bytes.at, l->columns.n,
			     l->last < l->columns.n ? l->last : 0, &key);
		if (i == l->columns.n) {
			if (l->has_head)
				return file_complain(pass, "\"%.*s\" is none of the file's columns",
						     (int)MIN(key.n, 100ul), key.text);
			if (i == FILE_COLUMNS_MAX)
				return file_complain(pass, "more than %u columns",
						     FILE_COLUMNS_MAX);
			add_column(l, key.text, key.n, (struct type){ 0 });
			if (pass->place > 1)
				file_guess_null(&l->guesses.at[i], 1);
		}
		if (l->has_head && !jsonl_value(true, l->columns.at[i].type, &value, &unused))
			return complain_value(pass, &l->columns.at[i], &value);
		learn_value(&l->guesses.at[i], &value, pass->place);
		l->seen.at[i] = pass->place;
		l->last = i + 1;
	}
	for (i = 0; i < l->columns.n; i++)
		if (l->seen.at[i] != pass->place)
			file_guess_null(&l->guesses.at[i], pass->place);
	return end_object(pass, json);
}

static struct file *jsonl_finish(struct jsonl_learn *l, const struct file_pass *pass)
{
	struct jsonl_file *f = arena_new(l->arena, struct jsonl_file);

	for (u32 i = 0; i < l->columns.n && !l->has_head; i++)
		l->columns.at[i].type = file_guess_type(&l->guesses.at[i]);
	f->keys = l->keys.at;
	f->key_bytes = l->key_bytes.at;
	f->has_head = l->has_head;
	f->file.schema = (struct schema){ l->columns.n, l->columns.at };
	file_finish(&f->file, pass, l->arena, l->guesses.at);
	return &f->file;
}

static struct file *jsonl_learn(struct file_pass *pass, struct arena *arena)
{
	struct jsonl_learn l = { .arena = arena };
	struct json json;
	bool is_begun = false;
	int rc;

	while ((rc = next_object(pass, &json)) == 1) {
		if (!is_begun) {
			is_begun = true;
			rc = take_head(&l, pass, json);
			if (rc < 0)
				return NULL;
			if (rc == 1)
				continue;
		}
		if (learn_row(&l, pass, &json))
			return NULL;
	}
	if (rc < 0)
		return NULL;
	if (!l.columns.n) {
		pass->place = 0;
		file_complain(pass, is_begun ? "has no columns" : "is empty");
		return NULL;
	}
	return jsonl_finish(&l, pass);
}

/* --- Rows --- */

static int jsonl_begin(struct file_rows *rows)
{
	const struct jsonl_file *f = (const struct jsonl_file *)rows->file;
	struct json json;
	int rc;

	if (!f->has_head)
		return 0;
	rc = next_object(&rows->pass, &json);
	if (rc == 0)
		return file_has_changed(&rows->pass);
	return rc < 0 ? rc : 0;
}

static int jsonl_next(struct file_rows *rows, struct value *ret_row)
{
	const struct jsonl_file *f = (const struct jsonl_file *)rows->file;
	const struct schema *schema = &f->file.schema;
	struct json_value key, value;
	struct json json;
	bool is_first = true;
	u32 last = 0, i;
	int rc = next_object(&rows->pass, &json);

	if (rc <= 0)
		return rc;
	memset(ret_row, 0, schema->n_columns * sizeof(*ret_row));
	while (json_key(&json, &is_first, &key) == 1 && json_value(&json, &value)) {
		json_decode(&key);
		i = find_key(f->keys, f->key_bytes, schema->n_columns,
			     last < schema->n_columns ? last : 0, &key);
		if (i == schema->n_columns)
			return file_complain(&rows->pass, "\"%.*s\" is none of the file's columns",
					     (int)MIN(key.n, 100ul), key.text);
		if (!jsonl_value(f->has_head, schema->columns[i].type, &value, &ret_row[i]))
			return complain_value(&rows->pass, &schema->columns[i], &value);
		last = i + 1;
	}
	rc = end_object(&rows->pass, &json);
	return rc ? rc : 1;
}

/* --- Writing --- */

static void jsonl_write_begin(struct file_writer *w)
{
	buf_puts(w->out, "{\"ebql\": {\"columns\": [");
	for (u32 i = 0; i < w->schema->n_columns; i++) {
		buf_puts(w->out, i ? ", {\"name\": " : "{\"name\": ");
		buf_put_json_exact(w->out, w->names[i], strlen(w->names[i]));
		buf_puts(w->out, ", \"type\": \"");
		file_put_type(w->out, w->schema->columns[i].type);
		buf_puts(w->out, "\"}");
	}
	buf_puts(w->out, "]}}\n");
}

static void jsonl_write_rows(struct file_writer *w, const struct value *values, u32 n)
{
	u32 n_columns = w->schema->n_columns;

	for (u32 row = 0; row < n; row++) {
		for (u32 i = 0; i < n_columns; i++) {
			buf_puts(w->out, i ? ", " : "{");
			buf_put_json_exact(w->out, w->names[i], strlen(w->names[i]));
			buf_puts(w->out, ": ");
			file_put_value(w->out, w->schema->columns[i].type,
				       &values[(size_t)row * n_columns + i], true);
		}
		buf_puts(w->out, "}\n");
	}
}

const struct file_format file_jsonl = {
	.suffix = ".jsonl",
	.unit = "line",
	.learn = jsonl_learn,
	.begin = jsonl_begin,
	.next = jsonl_next,
	.write_begin = jsonl_write_begin,
	.write_rows = jsonl_write_rows,
};
