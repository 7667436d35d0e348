/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * "-4@-20(%rbp)": an argument of a user probe as its note has it -> where it stands.  What a
 * machine's compiler writes behind the @ is known by the file of that machine alone; each works on
 * any.
 */
#ifndef EBQL_CAT_OPERAND_H
#define EBQL_CAT_OPERAND_H

#include "cat/cat.h"

/* Of the program that the probe is in. */
struct operand_place {
	u64 address;	   /* of the probe */
	bool is_relocated; /* addresses in memory are others than in the file */
	/* Of a variable or function of the program. */
	bool (*find_symbol)(const struct operand_place *place, const char *name, size_t n,
			    u64 *ret_address);
	void *context; /* of it */
};

struct operand_machine {
	u16 elf_machine;
	u16 place_register; /* the one that has the probe's address, as operand.base says it */
	/* What stands behind the @; why it cannot be read, or NULL. */
	const char *(*read)(const char *text, size_t n, const struct operand_place *place,
			    struct user_operand *operand);
};

extern const struct operand_machine operand_x86_64, operand_arm64;

/*
 * The next argument of the text, which is moved behind it; false: there is none.  Its type is that
 * of what stands there, or why_not says why it cannot be had.
 */
bool operand_next(const struct operand_machine *machine, const char **text,
		  const struct operand_place *place, struct arena *arena,
		  struct user_operand *operand);

/* For the machines' files: a number with 0x or without at *at, up to end; false: there is none. */
bool operand_number(const char **at, const char *end, s64 *ret_number);
/*
 * "symbol", "symbol+8", "8+symbol", "-8": an address, or a number.  NULL, or why there is none.
 */
const char *operand_address(const char *text, size_t n, const struct operand_place *place,
			    u64 *ret_value, bool *ret_is_address);

#define OPERAND_UNKNOWN "ebql does not know that form"

#endif
