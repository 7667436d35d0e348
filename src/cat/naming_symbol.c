/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Addresses of the kernel's code -> the functions that they are in, and back: a function is where
 * it begins and ends.
 */
#include "cat/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct kernel_symbols symbols;
static bool is_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void prepare(void)
{
	pthread_mutex_lock(&lock);
	if (!is_open)
		kernel_symbols_open(&symbols);
	is_open = true;
	pthread_mutex_unlock(&lock);
}

static const char *name_of_symbol(const struct naming *naming, const s64 *x, u32 n, char *room)
{
	const struct symbol *s = NULL;

	pthread_mutex_lock(&lock);
	if (is_open) {
		kernel_symbols_look(&symbols);
		s = symbol_table_find(&symbols.table, (u64)*x);
	}
	if (s)
		snprintf(room, NAMING_BYTES, "%s", s->name);
	pthread_mutex_unlock(&lock);
	return s ? room : NULL;
}

static int ranges_of_symbol(const char *name, struct naming_range ret[NAMING_NUMBERS],
			    struct suggest *suggest)
{
	const struct symbol_table *table = &symbols.table;
	u32 n = 0;

	prepare();
	pthread_mutex_lock(&lock);
	kernel_symbols_look(&symbols);
	for (u32 i = 0; i < table->list.n; i++) {
		const struct symbol *s = &table->list.at[i];

		if (strcmp(s->name, name) != 0)
			suggest_offer(suggest, s->name);
		else if (n++ < NAMING_NUMBERS)
			ret[n - 1] = (struct naming_range){ s->start, symbol_end(table, s) };
	}
	pthread_mutex_unlock(&lock);
	return !table->list.n || n > NAMING_NUMBERS ? -1 : (int)n;
}

const struct naming naming_sym = { .name = "sym",
				   .name_of = name_of_symbol,
				   .is_address = true,
				   .example = "vfs_read",
				   .prepare = prepare,
				   .ranges_of = ranges_of_symbol };

/* An address and its process, whose files sym/ reads. */
const struct naming naming_usym = { .name = "usym", .most = 2, .is_address = true };
