/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples: profile:HZ on every CPU, interval:TIME on one, software:EVENT:PERIOD and
 * hardware:EVENT:PERIOD (each PERIOD-th of these) -> streams of perf events.
 */
#include "cat/internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000ull
/* The kernel makes shorter periods of a clock longer: perf_swevent_init_hrtimer(). */
#define CLOCK_MIN_NS 10000

struct sample_event {
	const char *name, *also; /* also: as perf or bpftrace has it, too */
	u64 config, period;	 /* period: where none is written, that of bpftrace */
};

static const struct sample_event software[] = {
	{ "cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, 1000000 },
	{ "task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, 1000000 },
	{ "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100 },
	{ "minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, 100 },
	{ "major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1 },
	{ "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000 },
	{ "cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1 },
	{ "alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1 },
	{ "emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, 1 },
};

static const struct sample_event hardware[] = {
	{ "cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000 },
	{ "instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, 1000000 },
	{ "cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES, 1000000 },
	{ "cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, 1000000 },
	{ "branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000 },
	{ "branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, 100000 },
	{ "bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, 100000 },
	{ "frontend-stalls", "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  1000000 },
	{ "backend-stalls", "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  1000000 },
	{ "ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, 1000000 },
};

static const struct {
	u32 type, n;
	const struct sample_event *events;
} tables[STREAM_N] = {
	[STREAM_SOFTWARE] = { PERF_TYPE_SOFTWARE, ARRAY_SIZE(software), software },
	[STREAM_HARDWARE] = { PERF_TYPE_HARDWARE, ARRAY_SIZE(hardware), hardware },
};

static const struct {
	const char *name;
	u64 ns;
} units[] = {
	{ "m", 60 * NS_PER_S }, { "s", NS_PER_S }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }
};

/* "99"; 0: it is no such number.  *ret_rest: what is behind it. */
static u64 take_number(const char *text, const char **ret_rest)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	*ret_rest = end;
	return text[0] < '0' || text[0] > '9' || errno || n > INT64_MAX ? 0 : n;
}

static u64 take_whole_number(const char *text)
{
	const char *rest;
	u64 n = take_number(text, &rest);

	return *rest ? 0 : n;
}

static u64 take_time(const char *text)
{
	const char *rest;
	u64 n = take_number(text, &rest);

	for (u32 i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(rest, units[i].name))
			return n <= INT64_MAX / units[i].ns ? n * units[i].ns : 0;
	return 0;
}

/* One event has one name, or it would be hooked twice: 1000ms is 1s. */
static const char *time_name(struct arena *arena, u64 ns)
{
	u32 i = 0;

	while (ns % units[i].ns)
		i++;
	return arena_printf(arena, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

static struct stream *new_clock(struct catalog *catalog, const struct stream_kind_info *kind,
				const char *event, struct stream_sample *sample)
{
	bool is_profile = kind->kind == STREAM_PROFILE;
	u64 hz = is_profile ? take_whole_number(event) : 0;

	*sample = (struct stream_sample){ .type = PERF_TYPE_SOFTWARE,
					  .config = PERF_COUNT_SW_CPU_CLOCK,
					  .period = !is_profile ? take_time(event)
						    : hz	? NS_PER_S / hz
								: 0,
					  .is_of_one_cpu = !is_profile };
	if (sample->period < CLOCK_MIN_NS)
		return NULL;
	return stream_new(catalog->arena, kind, NULL,
			  is_profile ? arena_printf(catalog->arena, "%llu", (unsigned long long)hz)
				     : time_name(catalog->arena, sample->period));
}

static const struct sample_event *find_event(enum stream_kind kind, const char *name)
{
	for (u32 i = 0; i < tables[kind].n; i++) {
		const struct sample_event *event = &tables[kind].events[i];

		if (!strcmp(name, event->name) || (event->also && !strcmp(name, event->also)))
			return event;
	}
	return NULL;
}

static struct stream *new_event(struct catalog *catalog, const struct stream_kind_info *kind,
				const char *name, const char *period, struct stream_sample *sample)
{
	const struct sample_event *event = find_event(kind->kind, name);
	u64 n;

	if (!event)
		return NULL;
	n = period ? take_whole_number(period) : event->period;
	*sample = (struct stream_sample){ .type = tables[kind->kind].type,
					  .config = event->config,
					  .period = n };
	return n ? stream_new(catalog->arena, kind, event->name,
			      arena_printf(catalog->arena, "%llu", (unsigned long long)n))
		 : NULL;
}

/* In struct bpf_perf_event_data: the registers of the place that was hit, and what is behind. */
static void add_fields(struct catalog *catalog, struct stream *s)
{
	const struct arch *arch = catalog->arch;
	const struct field fields[] = {
		{ "ip", "u64 ip", FIELD_FIXED, { TYPE_POINTER, 64 }, arch->instruction, 8 },
		{ "user_mode", "bool user_mode", FIELD_USER_MODE, { TYPE_BOOL, 8 }, arch->mode, 8 },
		{ "period", "u64 period", FIELD_FIXED, { TYPE_INT, 64 }, arch->n_bytes, 8 },
		{ "addr", "u64 addr", FIELD_FIXED, { TYPE_POINTER, 64 }, arch->n_bytes + 8u, 8 },
	};

	s->n_fields = ARRAY_SIZE(fields);
	s->fields = arena_array(catalog->arena, struct field, s->n_fields);
	memcpy(s->fields, fields, sizeof(fields));
}

static int load(struct catalog *catalog, const struct stream_kind_info *kind, const char *category,
		const char *event, struct stream **ret_stream)
{
	struct stream_sample *sample = arena_new(catalog->arena, struct stream_sample);
	struct stream *s = !tables[kind->kind].n
				   ? new_clock(catalog, kind, event, sample)
				   : new_event(catalog, kind, category ? category : event,
					       category ? event : NULL, sample);

	if (!s)
		return -ENOENT;
	s->sample = sample;
	add_fields(catalog, s);
	*ret_stream = s;
	return 0;
}

static const char *meant(struct catalog *catalog, const struct stream_kind_info *kind,
			 const struct stream_names *names, const char *category, const char *event)
{
	const char *name = category ? category : event;
	struct suggest suggest;

	if (kind->kind == STREAM_PROFILE)
		return "a rate in Hz, up to 100000: profile:99";
	if (kind->kind == STREAM_INTERVAL)
		return "a time of 10us and more: interval:1s, interval:100ms";
	if (find_event(kind->kind, name))
		return arena_printf(catalog->arena, "a PERIOD of 1 and more: %s:%s:1000",
				    kind->name, name);
	suggest_init(&suggest, name);
	for (u32 i = 0; i < tables[kind->kind].n; i++) {
		suggest_offer(&suggest, tables[kind->kind].events[i].name);
		if (tables[kind->kind].events[i].also)
			suggest_offer(&suggest, tables[kind->kind].events[i].also);
	}
	return suggest_best(&suggest) ? arena_printf(catalog->arena, "did you mean \"%s:%s\"?",
						     kind->name, suggest_best(&suggest))
				      : NULL;
}

static int list(struct catalog *catalog, const struct stream_kind_info *kind,
		struct stream_names *names)
{
	for (u32 i = 0; i < tables[kind->kind].n; i++)
		stream_names_add(catalog->arena, names, kind, NULL,
				 tables[kind->kind].events[i].name);
	return 0;
}

static void complain(struct catalog *catalog, int error, struct span span, struct diags *diags)
{
	BUG("a list in the program cannot fail");
}

#define SAMPLE_KIND(kind_, name_, short_, form_, has_period_)                                      \
	{                                                                                          \
		.kind = kind_, .name = name_, .shorthand = short_, .form = form_,                  \
		.has_category = has_period_, .is_whole = has_period_, .list = list, .load = load,  \
		.complain = complain, .meant = meant                                               \
	}

const struct stream_kind_info profile_kind =
	SAMPLE_KIND(STREAM_PROFILE, "profile", "p", "profile:HZ", false);
const struct stream_kind_info interval_kind =
	SAMPLE_KIND(STREAM_INTERVAL, "interval", "i", "interval:TIME", false);
const struct stream_kind_info software_kind =
	SAMPLE_KIND(STREAM_SOFTWARE, "software", "s", "software:EVENT:PERIOD", true);
const struct stream_kind_info hardware_kind =
	SAMPLE_KIND(STREAM_HARDWARE, "hardware", "h", "hardware:EVENT:PERIOD", true);
