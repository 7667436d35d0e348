/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Settings: SET name = value and WITH (name = value), one table entry each.
 */
#include <string.h>
#include <strings.h>

#include "plan/plan.h"

void settings_init(struct settings *settings)
{
	*settings = (struct settings){
		.max_groups = 16384,
		.ring_bytes = 2 << 20, /* mapped twice; a peak RSS of 10 MB is promised */
		.max_in_flight = 65536,
		.stacks = 16384,
		.pushdown = true,
		.rules_off = "",
		.out = "",
		.on_row = "",
		.on_row_limit_ns = 10000000000ull,
		.out_span = SPAN_NONE,
		.schedule = { .start_s = -1, .stop_s = -1 },
		.target_pid = -1,
		.target_parent = -1,
	};
}

enum setting_kind {
	SETTING_WORD,
	SETTING_NUMBER,
	SETTING_DURATION,
	SETTING_TEXT,
	SETTING_CLOCK,
	SETTING_DAYS,
	SETTING_PERCENT
};

struct setting {
	const char *name;
	enum setting_kind kind;
	size_t offset;
	const char *words; /* of WORD: the values, in the order of the enum, separated by spaces */
	u64 lowest, highest;
};

#define AT(member) offsetof(struct settings, member)

static const struct setting settings_table[] = {
	{ "access_path", SETTING_WORD, AT(access_path), "auto tracepoint raw fentry kprobe", 0, 0 },
	{ "state", SETTING_WORD, AT(state), "auto table kernel_map", 0, 0 },
	{ "max_groups", SETTING_NUMBER, AT(max_groups), NULL, 1, 1 << 22 },
	{ "ring_bytes", SETTING_NUMBER, AT(ring_bytes), NULL, 4096, 1 << 30 },
	{ "max_in_flight", SETTING_NUMBER, AT(max_in_flight), NULL, 1, 1 << 20 },
	{ "stacks", SETTING_NUMBER, AT(stacks), NULL, 64, 1 << 18 },
	{ "edge", SETTING_WORD, AT(edge), "mid lower upper linear", 0, 0 },
	{ "survey", SETTING_DURATION, AT(survey_ns), NULL, 0, 10000000000ull },
	{ "on_loss", SETTING_WORD, AT(on_loss_fail), "mark fail", 0, 0 },
	{ "pushdown", SETTING_WORD, AT(pushdown), "off on", 0, 0 },
	{ "rules_off", SETTING_TEXT, AT(rules_off), NULL, 0, 0 },
	{ "windows", SETTING_NUMBER, AT(n_windows), NULL, 0, UINT64_MAX },
	{ "duration", SETTING_DURATION, AT(duration_ns), NULL, 0, DURATION_MAX_NS },
	{ "start", SETTING_CLOCK, AT(schedule.start_s), NULL, 0, 0 },
	{ "stop", SETTING_CLOCK, AT(schedule.stop_s), NULL, 0, 0 },
	{ "days", SETTING_DAYS, AT(schedule.days), NULL, 0, 0 },
	{ "out", SETTING_TEXT, AT(out), NULL, 0, 0 },
	{ "on_row", SETTING_TEXT, AT(on_row), NULL, 0, 0 },
	{ "on_row_limit", SETTING_DURATION, AT(on_row_limit_ns), NULL, 1000000, 3600000000000ull },
	{ "keep", SETTING_NUMBER, AT(keep), NULL, 1, 1000000 },
	{ "max_cpu", SETTING_PERCENT, AT(max_cpu), NULL, 100, 1000000000 },
	{ "over_budget", SETTING_WORD, AT(over_budget), "detach sample", 0, 0 },
	{ "wake_count", SETTING_NUMBER, AT(wake_count), NULL, 1, UINT32_MAX },
};

/* The number of the word in a list separated by spaces, or -1. */
static int word_find(const char *words, const char *wanted)
{
	size_t n = strlen(wanted);
	int at = 0;

	for (const char *w = words; *w; at++) {
		size_t length = strcspn(w, " ");

		if (length == n && strncasecmp(w, wanted, n) == 0)
			return at;
		w += length + (w[length] == ' ');
	}
	return -1;
}

static const char *option_word(const struct ast *value)
{
	if (value->kind == AST_TEXT)
		return value->text;
	if (value->kind == AST_NAME && value->n_parts == 1)
		return value->parts[0];
	if (value->kind == AST_BOOL)
		return value->integer ? "on" : "off";
	if (value->kind == AST_INTEGER && value->integer <= 1)
		return value->integer ? "on" : "off";
	return "";
}

static void set_word(struct settings *settings, const struct setting *s,
		     const struct ast_option *option, struct diags *diags)
{
	const char *word = option_word(option->value);
	int at = word_find(s->words, word);

	if (at < 0) {
		diag_refuse(diags, "bad-option-value", option->value->span,
			    "%s cannot be set to this" HINT "one of: %s", s->name, s->words);
		return;
	}
	char *place = (char *)settings + s->offset;

	if (s->offset == AT(on_loss_fail) || s->offset == AT(pushdown))
		*(bool *)place = at != 0;
	else
		memcpy(place, &at, sizeof(at)); /* an enum has the size of int in this ABI */
}

static void set_number(struct settings *settings, const struct setting *s,
		       const struct ast_option *option, struct diags *diags)
{
	const struct ast *v = option->value;
	bool is_duration = s->kind == SETTING_DURATION;
	enum ast_kind wanted = is_duration && v->integer ? AST_DURATION : AST_INTEGER;
	struct diag *d;

	if ((v->kind != wanted && !(is_duration && v->kind == AST_DURATION)) ||
	    v->integer < s->lowest || v->integer > s->highest) {
		d = diag_error(diags, "bad-option-value", v->span, "%s cannot be set to this",
			       s->name);
		if (is_duration)
			diag_hint(diags, d, "a duration such as 20ms, at most %llus",
				  (unsigned long long)(s->highest / 1000000000));
		else
			diag_hint(diags, d, "a whole number from %llu to %llu",
				  (unsigned long long)s->lowest, (unsigned long long)s->highest);
		return;
	}
	memcpy((char *)settings + s->offset, &v->integer, sizeof(u64));
}

static void set_schedule(struct settings *settings, const struct setting *s,
			 const struct ast_option *option, struct diags *diags)
{
	const char *text = option_word(option->value);
	void *place = (char *)settings + s->offset;

	settings->schedule.span = option->span;
	if (s->kind == SETTING_CLOCK && !schedule_clock(text, place))
		diag_refuse(diags, "bad-option-value", option->value->span,
			    "%s cannot be set to this" HINT "a time of day, such as '09:05'",
			    s->name);
	else if (s->kind == SETTING_DAYS && !schedule_days(text, place))
		diag_refuse(diags, "bad-option-value", option->value->span,
			    "%s cannot be set to this" HINT
			    "days of the week, such as 'mon-fri' or 'sat,sun'",
			    s->name);
}

/* "1%", "0.25%": in millionths. */
static void set_percent(struct settings *settings, const struct setting *s,
			const struct ast_option *option, struct diags *diags)
{
	const char *text = option->value->kind == AST_TEXT ? option->value->text : "";
	u64 value = 0, unit = 10000;
	bool is_fraction = false;

	for (; (*text >= '0' && *text <= '9' && unit && value <= s->highest) ||
	       (*text == '.' && !is_fraction);
	     text++) {
		if (*text == '.') {
			is_fraction = true;
		} else if (is_fraction) {
			unit /= 10;
			value += unit * (u64)(*text - '0');
		} else {
			value = 10 * value + unit * (u64)(*text - '0');
		}
	}
	if (strcmp(text, "%") != 0 || value < s->lowest || value > s->highest)
		diag_refuse(diags, "bad-option-value", option->value->span,
			    "%s cannot be set to this" HINT
			    "a share of one CPU such as '1%%' or '0.5%%', at least '0.01%%'",
			    s->name);
	else
		memcpy((char *)settings + s->offset, &value, sizeof(value));
}

void settings_keep(struct settings *kept, const struct settings *now, struct arena *arena)
{
	const struct settings before = *kept;

	*kept = *now;
	/* Of the statement alone. */
	kept->is_usym_used = kept->is_usym_told = kept->is_tree_used = false;
	kept->rules_off = before.rules_off;
	if (strcmp(before.rules_off, now->rules_off) != 0)
		kept->rules_off = arena_strdup(arena, now->rules_off);
	kept->out = before.out;
	if (strcmp(before.out, now->out) != 0)
		kept->out = arena_strdup(arena, now->out);
	kept->on_row = before.on_row;
	if (strcmp(before.on_row, now->on_row) != 0)
		kept->on_row = arena_strdup(arena, now->on_row);
}

void settings_each(void (*visit)(void *context, const char *name), void *context)
{
	for (u32 i = 0; i < ARRAY_SIZE(settings_table); i++)
		visit(context, settings_table[i].name);
}

void settings_set(struct settings *settings, const struct ast_option *option, struct diags *diags)
{
	struct suggest suggest;

	suggest_init(&suggest, option->name);
	for (u32 i = 0; i < ARRAY_SIZE(settings_table); i++) {
		const struct setting *s = &settings_table[i];

		if (strcasecmp(s->name, option->name) != 0) {
			suggest_offer(&suggest, s->name);
			continue;
		}
		if (s->kind == SETTING_WORD)
			set_word(settings, s, option, diags);
		else if (s->kind == SETTING_TEXT && option->value->kind != AST_TEXT &&
			 option->value->kind != AST_NAME)
			diag_refuse(diags, "bad-option-value", option->value->span,
				    "%s cannot be set to this" HINT "a text, in quotes", s->name);
		else if (s->kind == SETTING_TEXT)
			*(const char **)((char *)settings + s->offset) = option_word(option->value);
		else if (s->kind == SETTING_CLOCK || s->kind == SETTING_DAYS)
			set_schedule(settings, s, option, diags);
		else if (s->kind == SETTING_PERCENT)
			set_percent(settings, s, option, diags);
		else
			set_number(settings, s, option, diags);
		settings->is_max_groups_set |= s->offset == AT(max_groups);
		if (s->offset == AT(out))
			settings->out_span = option->span;
		if (s->offset == AT(on_row))
			settings->on_row_span = option->span;
		return;
	}
	struct diag *d = diag_error(diags, "unknown-option", option->span,
				    "there is no option \"%s\"", option->name);
	const char *best = suggest_best(&suggest);

	if (best)
		diag_hint(diags, d, "did you mean \"%s\"?", best);
	else
		diag_hint(diags, d,
			  "options: access_path, state, max_groups, max_in_flight, ring_bytes, "
			  "stacks, edge, survey, on_loss, pushdown, rules_off, windows, duration, "
			  "start, stop, days, out, on_row, on_row_limit, keep, max_cpu, "
			  "over_budget, wake_count");
}
