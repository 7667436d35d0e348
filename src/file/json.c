/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A line of JSON -> its values one by one, checked as they are passed.
 */
#include "file/json.h"

#include <string.h>

/* Arrays and objects within each other. */
#define JSON_DEPTH_MAX 256u

void json_skip_space(struct json *json)
{
	while (json->at < json->end &&
	       (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n'))
		json->at++;
}

static bool fail(struct json *json, const char *error)
{
	if (!json->error)
		json->error = error;
	return false;
}

bool json_take(struct json *json, char c, const char *error)
{
	json_skip_space(json);
	if (json->at == json->end || *json->at != c)
		return fail(json, error);
	json->at++;
	return true;
}

static int hex4(const char *at, const char *end)
{
	int code = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = base_hex_digit(at[i]);

		if (digit < 0)
			return -1;
		code = code << 4 | digit;
	}
	return code;
}

/* Behind the opening quote. */
static bool take_string(struct json *json, struct written *ret_value)
{
	*ret_value = (struct written){ .kind = WRITTEN_STRING, .text = json->at };
	for (; json->at < json->end && *json->at != '"'; json->at++) {
		if (*json->at == '\0')
			return fail(json, "a NUL byte");
		if (*json->at != '\\')
			continue;
		ret_value->has_escape = true;
		json->at++;
		if (json->at == json->end)
			break;
		if (*json->at == 'u') {
			int code = hex4(json->at + 1, json->end);

			if (code < 0)
				return fail(json, "\\u without four hex digits");
			if (code == 0)
				return fail(json, "a NUL character in a text");
			json->at += 4;
		} else if (!memchr("\"\\/bfnrt", *json->at, 8)) {
			return fail(json, "an unknown escape in a text");
		}
	}
	ret_value->n = (size_t)(json->at - ret_value->text);
	return json_take(json, '"', "a text without its closing quote");
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.' || c == '_';
}

static bool take_word(struct json *json, struct written *ret_value)
{
	static const char *const words[] = {
		[WRITTEN_NULL] = "null", [WRITTEN_FALSE] = "false", [WRITTEN_TRUE] = "true"
	};
	struct written v = { .kind = WRITTEN_BARE, .text = json->at };

	while (json->at < json->end && is_word_byte(*json->at))
		json->at++;
	v.n = (size_t)(json->at - v.text);
	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		if (v.n == strlen(words[i]) && memcmp(v.text, words[i], v.n) == 0)
			v.kind = i;
	}
	if (v.kind == WRITTEN_BARE && !file_is_number(v.text, v.n))
		return fail(json, "no JSON value");
	*ret_value = v;
	return true;
}

/* An array or object, with what is in it. */
static bool take_nested(struct json *json, struct written *ret_value)
{
	bool is_object = *json->at == '{', is_first = true;
	char *start = json->at++;
	struct written inner;
	int rc;

	if (json->depth == JSON_DEPTH_MAX)
		return fail(json, "values nested too deep");
	json->depth++;
	do {
		rc = is_object ? json_key(json, &is_first, &inner)
			       : json_element(json, &is_first, &inner);
		if (rc == 1 && is_object && !json_value(json, &inner))
			return false;
	} while (rc == 1);
	json->depth--;
	*ret_value = (struct written){ .kind = WRITTEN_NESTED,
				       .text = start,
				       .n = (size_t)(json->at - start) };
	return rc == 0;
}

bool json_value(struct json *json, struct written *ret_value)
{
	json_skip_space(json);
	if (json->at == json->end)
		return fail(json, "the line ends within an object");
	if (*json->at == '"') {
		json->at++;
		return take_string(json, ret_value);
	}
	if (*json->at == '[' || *json->at == '{')
		return take_nested(json, ret_value);
	return take_word(json, ret_value);
}

/* Before the next of several: 1, or 0 behind the end of them. */
static int next_of(struct json *json, char closer, bool *is_first)
{
	json_skip_space(json);
	if (json->at < json->end && *json->at == closer) {
		json->at++;
		return 0;
	}
	if (!*is_first && !json_take(json, ',',
				     closer == '}' ? "no comma between two members"
						   : "no comma between two values"))
		return -1;
	*is_first = false;
	return 1;
}

int json_key(struct json *json, bool *is_first, struct written *ret_key)
{
	int rc = next_of(json, '}', is_first);

	if (rc <= 0)
		return rc;
	if (!json_take(json, '"', "no name of a member") || !take_string(json, ret_key) ||
	    !json_take(json, ':', "no colon behind a name"))
		return -1;
	return 1;
}

int json_element(struct json *json, bool *is_first, struct written *ret_value)
{
	int rc = next_of(json, ']', is_first);

	return rc > 0 && !json_value(json, ret_value) ? -1 : rc;
}

/* --- Escapes --- */

static size_t put_utf8(char *at, u32 code)
{
	if (code < 0x80) {
		at[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		at[0] = (char)(0xC0 | code >> 6);
		at[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	if (code < 0x10000) {
		at[0] = (char)(0xE0 | code >> 12);
		at[1] = (char)(0x80 | (code >> 6 & 0x3F));
		at[2] = (char)(0x80 | (code & 0x3F));
		return 3;
	}
	at[0] = (char)(0xF0 | code >> 18);
	at[1] = (char)(0x80 | (code >> 12 & 0x3F));
	at[2] = (char)(0x80 | (code >> 6 & 0x3F));
	at[3] = (char)(0x80 | (code & 0x3F));
	return 4;
}

/* *at is behind "\u". */
static size_t decode_u(const char **at, const char *end, char *to)
{
	u32 code = (u32)hex4(*at, end);

	*at += 4;
	if (code >= 0xD800 && code < 0xDC00 && end - *at >= 6 && (*at)[0] == '\\' &&
	    (*at)[1] == 'u') {
		int low = hex4(*at + 2, end);

		if (low >= 0xDC00 && low < 0xE000) {
			*at += 6;
			return put_utf8(to, 0x10000 + ((code - 0xD800) << 10) + (u32)low - 0xDC00);
		}
	}
	if (code >= 0xDC80 && code <= 0xDCFF) {
		*to = (char)(code - 0xDC00);
		return 1;
	}
	return put_utf8(to, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
}

size_t json_decode(struct written *value)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *at = value->text, *end = value->text + value->n;
	char *to = value->text;

	if (!value->has_escape)
		return value->n;
	/* What an escape stands for is never longer than the escape. */
	while (at < end) {
		if (*at != '\\') {
			*to++ = *at++;
		} else if (at[1] == 'u') {
			at += 2;
			to += decode_u(&at, end, to);
		} else {
			*to++ = bytes[strchr(names, at[1]) - names];
			at += 2;
		}
	}
	value->has_escape = false;
	value->n = (size_t)(to - value->text);
	return value->n;
}
