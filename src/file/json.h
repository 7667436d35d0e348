/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * JSON (RFC 8259) piece by piece, in place: a value is a stretch of the line.
 */
#ifndef EBQL_FILE_JSON_H
#define EBQL_FILE_JSON_H

#include "base/base.h"

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_NESTED };

/* The text of the value; of a string without its quotes, as written. */
struct json_value {
	enum json_kind kind;
	bool has_escape;
	char *text;
	size_t n;
};

struct json {
	char *at, *end;
	const char *error; /* of the first thing that is wrong, or NULL */
};

void json_skip_space(struct json *json);
/* Takes the byte c, or notes the error. */
bool json_take(struct json *json, char c, const char *error);
bool json_value(struct json *json, struct json_value *ret_value);
/*
 * Inside an object ("{" was taken): 1: a key, whose value comes next; 0: "}" was taken;
 * -1: error.  *is_first tells the first from the others.
 */
int json_key(struct json *json, bool *is_first, struct json_value *ret_key);
/* The same for the values of an array. */
int json_element(struct json *json, bool *is_first, struct json_value *ret_value);
/*
 * Resolves escapes in place and returns the new length.  A surrogate alone is U+FFFD, but
 * U+DC80 ... U+DCFF stand for the bytes 0x80 ... 0xFF, as other programs have it that carry
 * bytes which are no UTF-8.
 */
size_t json_decode(struct json_value *value);

#endif
