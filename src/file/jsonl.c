/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * JSON lines <-> rows: one object a line.  Our own files begin with a line that holds the
 * columns, {"ebql": {"columns": [{"name": "time", "type": "TIMESTAMP"}, ...]}}; without it
 * the columns are the members of all objects, in the order in which they appear, and
 * values that are arrays or objects are their JSON text.
 */
#include <string.h>

#include "file/internal.h"
#include "file/json.h"

struct jsonl_file {
	struct file file;
	struct arena *arena;
	VEC(struct column) columns;
	VEC(const char *) keys; /* as written: the columns' names are unique */
};

/* Of the last line, which has no line feed: does it end before its object does? */
static bool is_cut(struct json json)
{
	struct written value;

	if (!json_value(&json, &value))
		return true;
	json_skip_space(&json);
	return json.at != json.end;
}

/*
 * The next line that is not blank, behind its "{": 1; 0: none is left; -errno, told, or
 * file_cut().
 */
static int next_object(struct file_pass *pass, struct json *ret_json)
{
	struct reader *reader = &pass->reader;
	bool is_last;
	size_t end;
	int error;

	do {
		error = file_line_end(pass, 0, &end);
		if (error || !reader_has(reader))
			return error;
		pass->place++;
		*ret_json = (struct json){ .at = reader->buf + reader->start,
					   .end = reader->buf + reader->start + end };
		is_last = end == reader_has(reader);
		reader->start += end + !is_last;
		json_skip_space(ret_json);
	} while (ret_json->at == ret_json->end);
	if (is_last && is_cut(*ret_json))
		return file_cut(pass, 1);
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

static bool is_text(const struct written *value, const char *text)
{
	return value->n == strlen(text) && memcmp(value->text, text, value->n) == 0;
}

/* --- The line of columns --- */

static void add_column(struct jsonl_file *f, const struct written *key, struct type type)
{
	const char *name = arena_strndup(f->arena, key->text, key->n);

	vec_push(f->arena, &f->columns, (struct column){ name, type });
	vec_push(f->arena, &f->keys, name);
	f->file.schema = (struct schema){ f->columns.n, f->columns.at };
}

/* The member of an object; false when it is none, or has none of this name. */
static bool find_member(const struct written *object, const char *name, struct written *ret_value)
{
	struct json json = { .at = object->text + 1, .end = object->text + object->n };
	struct written key, value;
	bool is_first = true;

	*ret_value = (struct written){ 0 };
	if (object->kind != WRITTEN_NESTED || object->text[0] != '{')
		return false;
	while (json_key(&json, &is_first, &key) == 1 && json_value(&json, &value))
		if (is_text(&key, name))
			*ret_value = value;
	return !json.error && ret_value->text;
}

static bool head_column(struct jsonl_file *f, const struct written *column)
{
	struct written name, type;
	struct type known;

	if (!find_member(column, "name", &name) || name.kind != WRITTEN_STRING ||
	    !find_member(column, "type", &type) || type.kind != WRITTEN_STRING ||
	    !file_type_of(type.text, type.n, &known) || f->columns.n == FILE_COLUMNS_MAX)
		return false;
	json_decode(&name);
	add_column(f, &name, known);
	return true;
}

/* The value of "ebql". */
static bool head_columns(struct jsonl_file *f, const struct written *head)
{
	struct written value, columns;
	bool is_first = true;
	struct json json;
	int rc;

	if (!find_member(head, "columns", &columns) || columns.kind != WRITTEN_NESTED ||
	    columns.text[0] != '[')
		return false;
	json = (struct json){ .at = columns.text + 1, .end = columns.text + columns.n };
	while ((rc = json_element(&json, &is_first, &value)) == 1)
		if (!head_column(f, &value))
			return false;
	return rc == 0;
}

/* Is the first line ours?  1: yes, 0: no, -errno. */
static int take_head(struct jsonl_file *f, struct file_pass *pass, struct json json)
{
	struct written key, value;
	bool is_first = true;

	if (json_key(&json, &is_first, &key) != 1 || !is_text(&key, "ebql") ||
	    !json_value(&json, &value) || !json_take(&json, '}', "") ||
	    value.kind != WRITTEN_NESTED)
		return 0;
	if (!head_columns(f, &value))
		return file_complain(pass, "a line of columns that is not known here");
	f->file.is_typed = true;
	return 1;
}

static struct file *jsonl_head(struct file_rows *rows, struct arena *arena)
{
	struct jsonl_file *f = arena_new(arena, struct jsonl_file);
	struct file_pass *pass = &rows->pass;
	struct json json;
	int rc;

	f->arena = arena;
	reader_skip_mark(&pass->reader);
	rc = next_object(pass, &json);
	if (rc == 1) {
		rc = take_head(f, pass, json);
		/* A row: it is read again. */
		if (rc == 0) {
			pass->reader.start = (size_t)(json.at - 1 - pass->reader.buf);
			pass->place--;
		}
	}
	return rc < 0 ? NULL : &f->file;
}

/* --- Rows --- */

/* The column of a key, or the number of columns. */
static u32 find_key(const struct jsonl_file *f, u32 likely, const struct written *key)
{
	u32 n = f->keys.n;

	for (u32 i = 0; i < n; i++) {
		u32 at = likely + i < n ? likely + i : likely + i - n;

		if (strncmp(f->keys.at[at], key->text, key->n) == 0 && !f->keys.at[at][key->n])
			return at;
	}
	return n;
}

/* A key that none of the columns has. */
static int learn_key(struct file_rows *rows, const struct written *key)
{
	struct jsonl_file *f = (struct jsonl_file *)rows->learnt;

	if (!f || f->file.is_typed)
		return file_complain(&rows->pass, "\"%.*s\" is none of the file's columns",
				     (int)MIN(key->n, 100ul), key->text);
	if (f->columns.n == FILE_COLUMNS_MAX)
		return file_complain(&rows->pass, "more than %u columns", FILE_COLUMNS_MAX);
	add_column(f, key, (struct type){ .kind = TYPE_NULL });
	return 0;
}

static int jsonl_next(struct file_rows *rows)
{
	const struct jsonl_file *f = (const struct jsonl_file *)rows->file;
	struct written key, value;
	bool is_first = true;
	struct json json;
	u32 i = 0;
	int rc = next_object(&rows->pass, &json);

	if (rc <= 0)
		return rc;
	memset(rows->fields, 0, f->keys.n * sizeof(*rows->fields));
	while (json_key(&json, &is_first, &key) == 1 && json_value(&json, &value)) {
		json_decode(&key);
		json_decode(&value);
		i = find_key(f, i < f->keys.n ? i : 0, &key);
		if (i == f->keys.n) {
			rc = learn_key(rows, &key);
			if (rc)
				return rc;
		}
		rows->fields[i++] = value;
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

const struct file_format file_jsonl = {
	.suffix = ".jsonl",
	.unit = "line",
	.head = jsonl_head,
	.next = jsonl_next,
	.value = file_text_value,
	.write_begin = jsonl_write_begin,
	.write_rows = file_write_text,
};
