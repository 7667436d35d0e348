/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A scheme of a histogram out of the text that scheme_print() makes of it.
 */
#include "func/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "(1, 2, 5)": up to `max` numbers.  Their number; 0 where the text is not of that form. */
static u32 read_numbers(const char *text, s64 *ret_numbers, u32 max)
{
	char *end;
	u32 n = 0;

	if (*text != '(')
		return 0;
	do {
		if (n == max)
			return 0;
		errno = 0;
		ret_numbers[n++] = strtoll(text + 1, &end, 10);
		if (errno || end == text + 1)
			return 0;
		text = end;
	} while (*text == ',');
	return strcmp(text, ")") == 0 ? n : 0;
}

static bool are_ascending(const s64 *numbers, u32 n)
{
	for (u32 i = 1; i < n; i++)
		if (numbers[i] <= numbers[i - 1])
			return false;
	return n > 0;
}

bool scheme_read(const char *text, s64 *bounds, struct scheme *ret_scheme)
{
	size_t length = strcspn(text, "(");
	struct scheme *scheme = ret_scheme;
	u32 n = 0;

	*scheme = (struct scheme){ .kind = SCHEME_LOG2 };
	while (scheme->kind < SCHEME_N && (strncmp(text, scheme_names[scheme->kind], length) != 0 ||
					   scheme_names[scheme->kind][length]))
		scheme->kind++;
	if (scheme->kind == SCHEME_N)
		return false;
	if (scheme->kind == SCHEME_LOG2)
		return !text[length];
	n = read_numbers(text + length, bounds, SCHEME_BOUNDS_MAX);
	switch (scheme->kind) {
	case SCHEME_EXPONENTIAL:
		scheme->digits = (u32)bounds[0];
		return n == 1 && bounds[0] >= 0 && bounds[0] <= 6;
	case SCHEME_LOGLINEAR:
		scheme->digits = (u32)bounds[0];
		return n == 1 && bounds[0] >= 1 && bounds[0] <= 10;
	case SCHEME_LINEAR:
		scheme->low = bounds[0];
		scheme->high = bounds[1];
		scheme->step = bounds[2];
		return n == 3 && scheme->low < scheme->high && scheme->step > 0 &&
		       scheme_n_cells(scheme) <= SCHEME_CELLS_MAX;
	case SCHEME_BOUNDS:
		scheme->bounds = bounds;
		scheme->n_bounds = n;
		return are_ascending(bounds, n);
	case SCHEME_LOG2:
	case SCHEME_N:
		break;
	}
	return false;
}
