/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The functions of a program or library: a name -> where in its file the code begins, and a place
 * in the file -> the function that it is in.
 */
#include "cat/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cat/elf.h"

/* --- By name --- */

struct search {
	struct arena *arena;
	const char *symbol;
	struct suggest *suggest;
	u64 address, n_bytes;
	u32 rank; /* of what was found; 0: nothing */
	bool is_ambiguous;
};

static void look_at(void *context, const struct elf_symbol *s)
{
	struct search *search = context;

	if (s->type != STT_FUNC)
		return;
	if (strcmp(s->name, search->symbol) != 0) {
		suggest_offer(search->suggest, s->name);
		/* The table goes before the next one is read. */
		if (suggest_best(search->suggest) == s->name)
			search->suggest->best = arena_strdup(search->arena, s->name);
		return;
	}
	if (s->rank < search->rank)
		return;
	search->is_ambiguous =
		s->rank == search->rank && (search->is_ambiguous || s->address != search->address);
	search->rank = s->rank;
	search->address = s->address;
	search->n_bytes = s->n_bytes;
}

int symbols_find(struct arena *arena, const char *path, const char *symbol,
		 struct symbol_place *ret_place, const char **ret_nearest)
{
	struct suggest suggest;
	struct search search = { .arena = arena, .symbol = symbol, .suggest = &suggest };
	struct elf elf;
	int err = elf_open(&elf, path);

	*ret_nearest = NULL;
	if (err)
		return err;
	suggest_init(&suggest, symbol);
	err = elf_each_symbol(&elf, look_at, &search);
	ret_place->file = elf.id;
	ret_place->n_bytes = search.n_bytes;
	if (err)
		;
	else if (search.is_ambiguous)
		err = -ENOTUNIQ;
	else if (!search.rank || !elf_file_offset(&elf, search.address, true, &ret_place->offset))
		err = -ESRCH;
	*ret_nearest = suggest_best(&suggest);
	elf_close(&elf);
	return err;
}

/* --- By place --- */

struct function {
	u64 begin, end; /* in the file; end == begin: up to the next one */
	u32 name;	/* where it begins among the names */
	u16 rank;
	bool is_chosen; /* at run time: its code is what chooses */
};

struct symbols {
	const struct elf *elf; /* while it is read */
	struct file_id file;
	struct function *functions;
	u32 n, n_room;
	struct buf names;
	bool is_cut; /* there is no memory for all of them */
};

static void add(void *context, const struct elf_symbol *s)
{
	struct symbols *all = context;
	u64 begin;

	if ((s->type != STT_FUNC && s->type != STT_GNU_IFUNC) || !*s->name ||
	    !elf_file_offset(all->elf, s->address, true, &begin))
		return;
	if (all->n == all->n_room) {
		u32 n_room = all->n_room ? 2 * all->n_room : 256;
		struct function *more = realloc(all->functions, n_room * sizeof(*more));

		all->is_cut |= !more;
		if (!more)
			return;
		all->functions = more;
		all->n_room = n_room;
	}
	all->functions[all->n++] = (struct function){
		.begin = begin,
		.end = begin + s->n_bytes,
		.name = (u32)all->names.n,
		.rank = (u16)s->rank,
		.is_chosen = s->type == STT_GNU_IFUNC,
	};
	buf_put(&all->names, s->name, strlen(s->name) + 1);
}

static u32 n_underscores(const char *name)
{
	return (u32)strspn(name, "_");
}

/* Of several names of one place the first is the one that is shown. */
static int compare(const void *a, const void *b, void *context)
{
	const char *names = ((const struct symbols *)context)->names.at;
	const struct function *x = a, *y = b;
	const char *s = names + x->name, *t = names + y->name;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (n_underscores(s) != n_underscores(t))
		return n_underscores(s) < n_underscores(t) ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return strcmp(s, t);
}

int symbols_open(const char *path, struct symbols **ret_symbols)
{
	struct symbols *all = calloc(1, sizeof(*all));
	struct elf elf;
	int err;

	if (!all)
		return -ENOMEM;
	buf_init(&all->names);
	err = elf_open(&elf, path);
	if (!err) {
		all->elf = &elf;
		all->file = elf.id;
		err = elf_each_symbol(&elf, add, all);
		elf_close(&elf);
		if (!err && (all->is_cut || all->names.is_cut))
			err = -ENOMEM;
	}
	if (err) {
		symbols_close(all);
		return err;
	}
	if (all->n)
		qsort_r(all->functions, all->n, sizeof(*all->functions), compare, all);
	*ret_symbols = all;
	return 0;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->functions);
	buf_free(&symbols->names);
	free(symbols);
}

/* The first that begins there or behind. */
static u32 first_from(const struct symbols *symbols, u64 begin)
{
	u32 low = 0, high = symbols->n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (symbols->functions[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *symbols_at(const struct symbols *symbols, u64 file_offset, u64 *ret_behind)
{
	u32 behind = first_from(symbols, file_offset + 1);
	const struct function *f;

	if (!behind)
		return NULL;
	f = &symbols->functions[first_from(symbols, symbols->functions[behind - 1].begin)];
	if (f->end > f->begin && file_offset >= f->end)
		return NULL;
	*ret_behind = file_offset - f->begin;
	return symbols->names.at + f->name;
}

u32 symbols_count(const struct symbols *symbols)
{
	return symbols->n;
}

struct file_id symbols_file(const struct symbols *symbols)
{
	return symbols->file;
}

const char *symbols_name(const struct symbols *symbols, u32 i, u64 *ret_offset)
{
	const struct function *f = &symbols->functions[i];

	*ret_offset = f->is_chosen ? 0 : f->begin;
	return symbols->names.at + f->name;
}
