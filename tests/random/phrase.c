/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A tree of phrases -> the text of a query in each dialect; and a tree that fails -> a
 * smaller one that still does.
 */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "random.h"

const char *const trait_names[TRAIT_N] = {
#define TRAIT(name, text) [TRAIT_##name] = (text),
	TRAITS
#undef TRAIT
};

struct phrase *phrase_new(struct arena *arena, enum phrase_class class, const char *ebql,
			  u32 n_args, ...)
{
	struct phrase *phrase = arena_new(arena, struct phrase);
	va_list args;

	phrase->class = class;
	phrase->ebql = ebql;
	phrase->n_args = n_args;
	phrase->args = arena_array(arena, struct phrase *, n_args + 1);
	va_start(args, n_args);
	for (u32 i = 0; i < n_args; i++)
		phrase->args[i] = va_arg(args, struct phrase *);
	va_end(args);
	return phrase;
}

struct phrase *phrase_mark(struct phrase *phrase, enum trait trait)
{
	phrase->traits |= 1ull << trait;
	return phrase;
}

u64 phrase_traits(const struct phrase *phrase)
{
	u64 traits = phrase->is_gone ? 0 : phrase->traits;

	for (u32 i = 0; i < phrase->n_args && !phrase->is_gone; i++)
		traits |= phrase_traits(phrase->args[i]);
	return traits;
}

void phrase_list_add(struct arena *arena, struct phrase *list, struct phrase *arg)
{
	struct phrase **args = arena_array(arena, struct phrase *, list->n_args + 1);

	memcpy(args, list->args, list->n_args * sizeof(*args));
	args[list->n_args++] = arg;
	list->args = args;
}

static void print_list(const struct phrase *list, const struct phrase_print *how, struct buf *out)
{
	bool is_first = true;

	for (u32 i = 0; i < list->n_args; i++) {
		if (list->args[i]->is_gone)
			continue;
		buf_puts(out, is_first ? "" : list->ebql);
		phrase_print(list->args[i], how, out);
		is_first = false;
	}
}

void phrase_print(const struct phrase *phrase, const struct phrase_print *how, struct buf *out)
{
	const char *at =
		how->dialect == PHRASE_SQLITE && phrase->sqlite ? phrase->sqlite : phrase->ebql;

	if (phrase->is_gone)
		return;
	if (phrase->class == PHRASE_LIST) {
		print_list(phrase, how, out);
		return;
	}
	for (; *at; at++) {
		struct phrase_print all = *how;

		if (*at != '$') {
			buf_putc(out, *at);
			continue;
		}
		if (*++at == '!') {
			all.is_all = true;
			at++;
		}
		if (*at == 'E' || *at == 'O')
			buf_puts(out, *at == 'E' ? how->event : how->other);
		else if (*at == 'W')
			buf_puts(out, how->is_all ? "" : " WHERE time >= :from AND time < :to");
		else if (isdigit((u8)*at) && (u32)(*at - '0') < phrase->n_args)
			phrase_print(phrase->args[*at - '0'], &all, out);
		else
			BUG("template \"%s\"", phrase->ebql);
	}
}

/* --- Shrinking --- */

struct phrase_shrinker {
	struct phrase *root;
	struct arena *arena;
	bool (*fails)(void *context);
	void *context;
	bool is_smaller;
};

static bool keeps_failing(struct phrase_shrinker *s)
{
	bool fails = s->fails(s->context);

	s->is_smaller |= fails;
	return fails;
}

/* Whatever carries the tag is gone, or is there again. */
static void mark_tag(struct phrase *phrase, u32 tag, bool is_gone)
{
	if (phrase->tag == tag)
		phrase->is_gone = is_gone;
	for (u32 i = 0; i < phrase->n_args; i++)
		mark_tag(phrase->args[i], tag, is_gone);
}

static u32 n_there(const struct phrase *list)
{
	u32 n = 0;

	for (u32 i = 0; i < list->n_args; i++)
		n += !list->args[i]->is_gone;
	return n;
}

static void drop_arg(struct phrase_shrinker *s, struct phrase *arg)
{
	if (arg->tag)
		mark_tag(s->root, arg->tag, true);
	arg->is_gone = true;
	if (keeps_failing(s))
		return;
	if (arg->tag)
		mark_tag(s->root, arg->tag, false);
	arg->is_gone = false;
}

static bool try_instead(struct phrase_shrinker *s, struct phrase **place, struct phrase *instead)
{
	struct phrase *old = *place;

	*place = instead;
	if (keeps_failing(s))
		return true;
	*place = old;
	return false;
}

static bool try_literals(struct phrase_shrinker *s, struct phrase **place)
{
	static const char *const literals[] = { "0", "1" };
	const struct phrase *old = *place;

	if (old->class != PHRASE_INTEGER || !old->n_args)
		return false;
	for (u32 i = 0; i < ARRAY_SIZE(literals); i++)
		if (try_instead(s, place, phrase_new(s->arena, PHRASE_INTEGER, literals[i], 0)))
			return true;
	return false;
}

static void shrink_at(struct phrase_shrinker *s, struct phrase **place)
{
	struct phrase *phrase = *place;

	if (phrase->is_gone || (phrase->is_optional && (drop_arg(s, phrase), phrase->is_gone)))
		return;
	for (u32 i = 0; phrase->class == PHRASE_LIST && i < phrase->n_args; i++)
		if (!phrase->args[i]->is_gone && n_there(phrase) > 1)
			drop_arg(s, phrase->args[i]);
	if (try_literals(s, place))
		return;
	for (u32 i = 0; phrase->class < PHRASE_FIXED && i < phrase->n_args; i++) {
		if (phrase->args[i]->class != phrase->class || phrase->args[i]->is_gone ||
		    !try_instead(s, place, phrase->args[i]))
			continue;
		shrink_at(s, place);
		return;
	}
	for (u32 i = 0; i < phrase->n_args; i++)
		shrink_at(s, &phrase->args[i]);
}

void phrase_shrink(struct phrase *root, struct arena *arena, bool (*fails)(void *context),
		   void *context)
{
	struct phrase_shrinker s = { root, arena, fails, context, true };

	for (u32 round = 0; s.is_smaller && round < 6; round++) {
		s.is_smaller = false;
		shrink_at(&s, &root);
	}
}
