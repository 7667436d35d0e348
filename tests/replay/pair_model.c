/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Random starts and ends, and what becomes of them by the definition of the joins. */
#include <stdio.h>
#include <string.h>

#include "pair.h"

/* --- The events --- */

static bool is_end(const struct event *e)
{
	return e->stream == STREAM_EVENT;
}

static bool is_start(const struct configuration *c, const struct event *e)
{
	switch (c->right) {
	case RIGHT_SAME:
		return e->stream == STREAM_EVENT;
	case RIGHT_FILTERED:
		return e->stream == STREAM_OTHER && e->integers[C_U16] < 40000;
	case RIGHT_UNION:
		return e->stream == STREAM_OTHER ? e->integers[C_U16] < 40000
						 : e->integers[C_BOOL] != 0;
	default:
		return e->stream == STREAM_OTHER;
	}
}

static bool has_null_key(const struct configuration *c, const struct event *e)
{
	return c->keys_may_be_null && !e->integers[C_BOOL];
}

static bool same_key(const struct model *m, const struct event *a, const struct event *b)
{
	for (u32 i = 0; i < m->n_keys; i++) {
		enum replay_column key = m->keys[i];

		if (column_infos[key].is_text
			    ? a->text_bytes[key] != b->text_bytes[key] ||
				      memcmp(a->texts[key], b->texts[key], a->text_bytes[key])
			    : a->integers[key] != b->integers[key])
			return false;
	}
	return true;
}

/* Texts that differ late, in length only, and by an end that is cut; numbers of both signs. */
static const char *const key_texts[] = { "abcdefgh-x", "abcdefgh-y", "abcdefgh-", "a", "b", "" };

static void random_event(const struct model *m, struct rng *rng, struct event *e, u64 *time_ns)
{
	const struct configuration *c = m->c;
	static const enum replay_column texts[] = { C_NAME, C_PATH, C_DL, C_COMM };

	event_init(e);
	e->stream = rng_percent(rng, 50) ? STREAM_OTHER : STREAM_EVENT;
	for (u32 i = 0; i < C_N; i++)
		if (!column_infos[i].is_text)
			e->integers[i] = rng_range(rng, column_infos[i].min, column_infos[i].max);
	for (u32 i = 0; i < ARRAY_SIZE(texts); i++) {
		char text[32];

		snprintf(text, sizeof(text), "t%llu",
			 (unsigned long long)(rng_next(rng) >> rng_below(rng, 60)));
		text[texts[i] == C_COMM || texts[i] == C_NAME ? 15 : 22] = 0;
		e->texts[texts[i]] = arena_strdup(m->arena, text);
		e->text_bytes[texts[i]] = strlen(text);
	}
	for (u32 i = 0; i < m->n_keys; i++) {
		enum replay_column key = m->keys[i];
		u32 v = rng_below(rng, c->n_values);

		if (column_infos[key].is_text) {
			e->texts[key] = key_texts[v];
			e->text_bytes[key] = strlen(key_texts[v]);
		} else {
			e->integers[key] =
				v % 2 && column_infos[key].is_signed ? -(s128)v : (s128)v;
		}
	}
	e->integers[C_CPU] = rng_below(rng, replay_cpus);
	/* Times are even; ends whose clock is behind, by up to 2 us, have odd ones. */
	*time_ns += c->has_ties ? 2 * rng_below(rng, 2) : 2 * (1 + rng_below(rng, 100));
	e->integers[C_TIME] = *time_ns;
	if (c->is_skewed && is_end(e) && rng_percent(rng, 10))
		e->integers[C_TIME] -= 2 * (s64)rng_below(rng, 1000) + 1;
	event_encode(e, m->arena, rng);
}

/* --- The reference --- */

static void forget(struct model *m, u32 at)
{
	m->n_waiting--;
	memmove(&m->waiting[at], &m->waiting[at + 1], (m->n_waiting - at) * sizeof(*m->waiting));
}

/* ASOF: the two latest starts of a key stay, and of one instant the one written last. */
static void forget_third(struct model *m, const struct event *e)
{
	u32 n = 0, oldest = 0;

	for (u32 i = 0; i < m->n_waiting; i++) {
		if (!same_key(m, m->waiting[i], e))
			continue;
		if (m->waiting[i]->integers[C_TIME] == e->integers[C_TIME]) {
			forget(m, i);
			return;
		}
		if (!n++ || m->waiting[i]->integers[C_TIME] < m->waiting[oldest]->integers[C_TIME])
			oldest = i;
	}
	if (n == 2)
		forget(m, oldest);
}

static void store(struct model *m, const struct event *e)
{
	m->starts++;
	if (has_null_key(m->c, e)) {
		m->unpaired[UNPAIRED_NEVER_ENDED] += !m->c->is_asof;
		return;
	}
	if (m->c->is_asof)
		forget_third(m, e);
	if (pair_is_exact(m->c) && !m->c->is_asof && m->n_waiting == PAIR_WAYS) {
		forget(m, 0);
		m->unpaired[UNPAIRED_FULL]++;
	}
	m->waiting[m->n_waiting++] = e;
}

static struct value value_of(const struct event *e, enum replay_column column)
{
	if (column_infos[column].is_text)
		return (struct value){ .kind = VALUE_TEXT,
				       .n = e->text_bytes[column],
				       .text = e->texts[column] };
	return (struct value){ .kind = VALUE_INT, .integer = e->integers[column] };
}

static struct value item_value(const struct pair_item *item, const struct event *a,
			       const struct event *b)
{
	struct value v = { .kind = VALUE_NULL };

	if (item->side == ITEM_A)
		return value_of(a, item->column);
	if (!b || (item->side == ITEM_B_IF && !b->integers[C_BOOL]))
		return v;
	v = value_of(b, item->column);
	if (item->side == ITEM_SPAN)
		v.integer = a->integers[C_TIME] - b->integers[C_TIME];
	else if (item->side == ITEM_TWICE)
		v.integer *= 2;
	return v;
}

static bool passes_where(const struct configuration *c, const struct event *a,
			 const struct event *b)
{
	if (!c->where)
		return true;
	return (c->where[0] == 'a' ? a : b)->integers[C_U16] < 30000;
}

static void add_row(struct model *m, const struct event *a, const struct event *b)
{
	struct value values[ITEMS_MAX];

	if (!passes_where(m->c, a, b))
		return;
	for (u32 i = 0; i < m->result.n_columns; i++)
		values[i] = item_value(&m->items[i], a, b);
	result_add_row(&m->result, m->arena, values);
	m->result.matched++;
}

/* Does the end's time matter, by ASOF, WITHIN or the start's time: then no later start is taken. */
static bool sees_order(const struct configuration *c)
{
	return c->is_asof || c->within_ns || strstr(c->items, " - ");
}

static void look_up(struct model *m, const struct event *e)
{
	const struct configuration *c = m->c;
	const struct event *start = NULL;
	u32 at = 0;

	m->ends++;
	for (u32 i = 0; i < m->n_waiting && !has_null_key(c, e); i++)
		if (same_key(m, m->waiting[i], e) &&
		    (!sees_order(c) || m->waiting[i]->integers[C_TIME] <= e->integers[C_TIME]) &&
		    (!start || m->waiting[i]->integers[C_TIME] > start->integers[C_TIME])) {
			start = m->waiting[i];
			at = i;
		}
	if (!start) {
		if (c->is_left)
			add_row(m, e, NULL);
		else
			m->unpaired[UNPAIRED_NEVER_STARTED]++;
		return;
	}
	if (!c->is_asof)
		forget(m, at);
	if (c->within_ns && e->integers[C_TIME] - start->integers[C_TIME] > (s128)c->within_ns) {
		m->unpaired[UNPAIRED_EXPIRED]++;
		if (c->is_left)
			add_row(m, e, NULL);
	} else {
		add_row(m, e, start);
	}
}

/* --- The words of a configuration --- */

static enum replay_column column_of(const char *name, size_t n)
{
	for (u32 i = 0; i < C_N; i++)
		if (strlen(column_infos[i].name) == n && !strncmp(column_infos[i].name, name, n))
			return i;
	BUG("no column %.*s", (int)n, name);
}

static size_t word_bytes(const char *at)
{
	return strcspn(at, " ,");
}

static struct pair_item item_of(const char *at, size_t n)
{
	const char *column = strncmp(at, "iif(", 4) ? at + 2 : at + strlen("iif(b.flag, b.");
	struct pair_item item = { at[0] == 'a' ? ITEM_A : ITEM_B,
				  column_of(column, word_bytes(column)) };

	if (at[0] == 'i')
		item.side = ITEM_B_IF;
	else if (memmem(at, n, " - ", 3))
		item.side = ITEM_SPAN;
	else if (memmem(at, n, " * ", 3))
		item.side = ITEM_TWICE;
	return item;
}

static void read_words(struct model *m)
{
	const char *at = m->c->keys;
	size_t n;

	for (; *at; at += n, at += strspn(at, ", ")) {
		n = word_bytes(at);
		m->keys[m->n_keys++] = column_of(at, n);
	}
	for (at = m->c->items; *at; at += n, at += strspn(at, ", ")) {
		n = at[0] == 'i' ? strcspn(at, ")") + 1 : strcspn(at, ",");
		m->items[m->result.n_columns++] = item_of(at, n);
	}
}

void pair_model_run(struct model *m, const struct configuration *c, struct arena *arena,
		    struct rng *rng, struct event *events, u32 n)
{
	u64 time_ns = 1000000;

	*m = (struct model){ .c = c, .arena = arena, .result.other_row = -1 };
	m->waiting = arena_array(arena, const struct event *, n + 1);
	read_words(m);
	for (u32 i = 0; i < n; i++) {
		struct event *e = &events[i];

		random_event(m, rng, e, &time_ns);
		if (m->n_waiting >= pair_most(c) && !c->is_asof) {
			e->stream = STREAM_EVENT;
			e->integers[C_BOOL] &= c->right != RIGHT_UNION;
			event_encode(e, arena, rng);
		}
		if (is_end(e))
			look_up(m, e);
		if (is_start(c, e))
			store(m, e);
	}
	if (!c->is_asof)
		m->unpaired[UNPAIRED_NEVER_ENDED] += m->n_waiting;
}
