/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How tight operators bind, loosest first, as in SQLite; the parser climbs by
 * it and the printer sets parentheses by it.
 */
#ifndef EBQL_SQL_PRECEDENCE_H
#define EBQL_SQL_PRECEDENCE_H

#include "sql/sql.h"

enum precedence {
	LEVEL_OR = 1,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_EQUAL, /* = <> IS IN LIKE GLOB BETWEEN ISNULL */
	LEVEL_COMPARE,
	LEVEL_BITS,
	LEVEL_SUM,
	LEVEL_PRODUCT,
	LEVEL_CONCAT,
	LEVEL_PREFIX,
	LEVEL_POSTFIX,
};

struct operator
{
	u8 level;
	u8 token, keyword; /* how it is written, if by one token: enum token_kind, enum keyword */
};

extern const struct operator operators[OP_N];

#endif
