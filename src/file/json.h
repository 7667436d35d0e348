/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * JSON (RFC 8259) piece by piece, in place: a value is a stretch of the line.
 */
#ifndef EBQL_FILE_JSON_H
#define EBQL_FILE_JSON_H

#include "file/internal.h"

struct json {
	char *at, *end;
	u32 depth;	   /* arrays and objects around this place */
	const char *error; /* of the first thing that is wrong, or NULL */
};

void json_skip_space(struct json *json);
/* Takes the byte c, or notes the error. */
bool json_take(struct json *json, char c, const char *error);
bool json_value(struct json *json, struct written *ret_value);
/*
 * Inside an object ("{" was taken): 1: a key, whose value comes next; 0: "}" was taken;
 * -1: error.  *is_first tells the first from the others.
 */
int json_key(struct json *json, bool *is_first, struct written *ret_key);
/* The same for the values of an array. */
int json_element(struct json *json, bool *is_first, struct written *ret_value);
/*
 * Resolves escapes in place and returns the new length.  A surrogate alone is U+FFFD, but
 * U+DC80 ... U+DCFF stand for the bytes 0x80 ... 0xFF, as other programs have it that carry
 * bytes which are no UTF-8.
 */
size_t json_decode(struct written *value);

#endif
