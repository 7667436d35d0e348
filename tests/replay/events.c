/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Random events of the invented tracepoint:test:event, which has a field of every
 * kind: values in memory -> context bytes (header, record, strings behind it).
 * Texts are followed by garbage, or fill their array with no NUL at all.
 */
#include <stdlib.h>
#include <string.h>

#include "phys/phys.h"
#include "replay.h"

#define HEADER(member, signed_, low, high)                                                         \
	.is_header = true, .offset_bytes = offsetof(struct replay_header, member),                 \
	.size_bytes = sizeof(((struct replay_header *)0)->member), .is_signed = (signed_),         \
	.min = (low), .max = (high)

/* Offsets as in a format file: 8 common bytes, then the fields in C order. */
const struct column_info column_infos[C_N] = {
	[C_U8] = { "f_u8", .offset_bytes = 8, .size_bytes = 1, .max = UINT8_MAX },
	[C_S8] = { "f_s8", .offset_bytes = 9, .size_bytes = 1, .is_signed = true, .min = INT8_MIN,
		   .max = INT8_MAX },
	[C_U16] = { "f_u16", .offset_bytes = 10, .size_bytes = 2, .max = UINT16_MAX },
	[C_S16] = { "f_s16", .offset_bytes = 12, .size_bytes = 2, .is_signed = true,
		    .min = INT16_MIN, .max = INT16_MAX },
	[C_BOOL] = { "flag", .offset_bytes = 14, .size_bytes = 1, .max = 1 },
	[C_U32] = { "f_u32", .offset_bytes = 16, .size_bytes = 4, .max = UINT32_MAX },
	[C_S32] = { "f_s32", .offset_bytes = 20, .size_bytes = 4, .is_signed = true,
		    .min = INT32_MIN, .max = INT32_MAX },
	[C_U64] = { "f_u64", .offset_bytes = 24, .size_bytes = 8, .max = INT64_MAX },
	[C_S64] = { "f_s64", .offset_bytes = 32, .size_bytes = 8, .is_signed = true,
		    .min = INT64_MIN, .max = INT64_MAX },
	[C_NAME] = { "name", .is_text = true, .offset_bytes = 40, .size_bytes = 16 },
	[C_PATH] = { "path", .is_text = true, .offset_bytes = 56, .size_bytes = 24 },
	[C_DL] = { "dl", .is_text = true, .offset_bytes = 80, .size_bytes = 4 },
	[C_PTR] = { "ptr", .offset_bytes = 88, .size_bytes = 8, .is_compare_only = true,
		    .max = INT64_MAX },
	[C_TIME] = { "time", .is_compare_only = true, HEADER(time_ns, false, 0, 1ll << 52) },
	[C_PID] = { "pid", HEADER(pid, true, 0, 4194304) },
	[C_TID] = { "tid", HEADER(tid, true, 0, 4194304) },
	[C_PPID] = { "ppid", HEADER(ppid, true, 0, 4194304) },
	[C_UID] = { "uid", HEADER(uid, false, 0, UINT32_MAX) },
	[C_GID] = { "gid", HEADER(gid, false, 0, UINT32_MAX) },
	[C_COMM] = { "comm", .is_text = true, HEADER(comm, false, 0, 0) },
	[C_CPU] = { "cpu", HEADER(cpu, false, 0, 1000) },
	[C_CGROUP] = { "cgroup", HEADER(cgroup, false, 0, 1ll << 40) },
	[C_NUMA_NODE] = { "numa_node", HEADER(numa_node, false, 0, 3) },
	[C_PROBE] = { "probe", .is_text = true, HEADER(probe, false, 0, 0) },
};

u32 replay_cpus = REPLAY_CPUS;

#define RECORD_BYTES 96
#define DL_BYTES_MAX 40

u64 rng_next(struct rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

u32 rng_below(struct rng *rng, u32 n)
{
	return (rng_next(rng) >> 32) % n;
}

s64 rng_range(struct rng *rng, s64 low, s64 high)
{
	u64 width = (u64)high - (u64)low + 1;

	return width ? (s64)((u64)low + rng_next(rng) % width) : (s64)rng_next(rng);
}

bool rng_percent(struct rng *rng, u32 percent)
{
	return rng_below(rng, 100) < percent;
}

u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

void event_init(struct event *event)
{
	memset(event, 0, sizeof(*event));
	for (u32 i = 0; i < C_N; i++)
		event->texts[i] = "";
	event->texts[C_PROBE] = REPLAY_STREAM;
	event->text_bytes[C_PROBE] = strlen(REPLAY_STREAM);
}

/* A text in an array: NUL when there is room for it, behind it whatever was there. */
static void put_text(u8 *at, u32 capacity, const char *text, u32 n, struct rng *garbage)
{
	for (u32 i = 0; i < capacity; i++)
		at[i] = (u8)rng_next(garbage);
	memcpy(at, text, n);
	if (n < capacity)
		at[n] = 0;
}

void event_encode(struct event *event, struct arena *arena, struct rng *garbage)
{
	u32 dl_bytes = event->text_bytes[C_DL];
	/* The length counts the NUL and sometimes more: garbage behind the NUL. */
	u32 dl_length = dl_bytes + 1 + rng_below(garbage, 3);
	u32 dl_offset = RECORD_BYTES + rng_below(garbage, 9);
	u32 base = sizeof(struct replay_header);
	u8 *context;

	event->context_bytes = ALIGN_UP(base + dl_offset + dl_length, 8);
	context = event->context = arena_alloc(arena, event->context_bytes);
	for (u32 i = base; i < event->context_bytes; i++)
		context[i] = (u8)rng_next(garbage);
	for (u32 i = 0; i < C_N; i++) {
		const struct column_info *info = &column_infos[i];
		u8 *at = context + (info->is_header ? 0 : base) + info->offset_bytes;
		u64 word = (u64)event->integers[i];

		if (i == C_PROBE)
			continue;
		if (i == C_DL) {
			word = dl_length << 16 | dl_offset;
			put_text(context + base + dl_offset, dl_length, event->texts[i], dl_bytes,
				 garbage);
			memcpy(at, &word, 4);
		} else if (info->is_text) {
			put_text(at, info->size_bytes, event->texts[i], event->text_bytes[i],
				 garbage);
			/* The kernel pads comm by zeros. */
			for (u32 j = event->text_bytes[i]; i == C_COMM && j < info->size_bytes; j++)
				at[j] = 0;
		} else {
			memcpy(at, &word, info->size_bytes);
		}
	}
}

/* --- Random values --- */

enum style {
	STYLE_SMALL,	/* few values around zero: groups of many rows */
	STYLE_MEDIUM,	/* up to a thousand */
	STYLE_WIDE,	/* any bits */
	STYLE_EXTREMES, /* the ends of the type, their neighbours and zero */
	STYLE_POWERS,	/* powers of two and their neighbours, both signs */
	STYLE_N
};

static s64 random_integer(struct rng *rng, const struct column_info *info, enum style style)
{
	s64 v;

	switch (style) {
	case STYLE_SMALL:
		v = rng_range(rng, info->min < 0 ? -2 : 0, 4);
		break;
	case STYLE_MEDIUM:
		v = rng_range(rng, info->min < 0 ? -1000 : 0, 1000);
		break;
	case STYLE_WIDE:
		v = rng_range(rng, info->min, info->max);
		break;
	case STYLE_EXTREMES:
		switch (rng_below(rng, 5)) {
		case 0:
			return info->min;
		case 1:
			return info->max;
		case 2:
			return info->min + 1;
		case 3:
			return info->max - 1;
		}
		return 0;
	default:
		v = (s64)(1ull << rng_below(rng, 63)) + rng_range(rng, -1, 1);
		if (info->min < 0 && rng_percent(rng, 50))
			v = -v;
	}
	return v < info->min ? info->min : v > info->max ? info->max : v;
}

/* Texts that differ by case, by a prefix, by one byte, that hold LIKE's own characters. */
static const char *const words[] = {
	"",
	"a",
	"A",
	"ab",
	"aB",
	"abc",
	"ABC",
	"abd",
	"b",
	"ba",
	"a_c",
	"a%c",
	"100%",
	"_",
	"%",
	"kworker/0:1",
	"bash",
	"Bash",
	"sshd",
	"systemd-journal",
	"/usr/bin/env",
	"/usr/lib/x",
	" ",
	"a b",
	"[a]",
	"\\",
	"it's",
	"exactly16bytes!!",
	"exactly 24 bytes of path",
};

static void random_text(struct rng *rng, struct event *event, u32 column, struct arena *arena)
{
	u32 capacity = column == C_DL ? DL_BYTES_MAX : column_infos[column].size_bytes;
	char text[64];
	u32 n;

	/* The kernel ends comm by a NUL; other arrays may be full. */
	if (column == C_COMM)
		capacity--;
	if (rng_percent(rng, 75)) {
		const char *word = words[rng_below(rng, ARRAY_SIZE(words))];

		n = MIN(strlen(word), capacity);
		memcpy(text, word, n);
	} else {
		static const char letters[] = "abcABC_%/xyz019.";

		n = rng_percent(rng, 30) ? capacity : rng_below(rng, capacity + 1);
		for (u32 i = 0; i < n; i++)
			text[i] = letters[rng_below(rng, sizeof(letters) - 1)];
	}
	event->texts[column] = arena_strndup(arena, text, n);
	event->text_bytes[column] = n;
}

/* Times differ, so that there is one first and one last event: the number makes them. */
static void random_event(struct rng *rng, struct event *event, const enum style *styles, u32 number,
			 struct arena *arena)
{
	event_init(event);
	for (u32 i = 0; i < C_N; i++) {
		if (i == C_PROBE)
			continue;
		if (column_infos[i].is_text)
			random_text(rng, event, i, arena);
		else
			event->integers[i] = random_integer(rng, &column_infos[i], styles[i]);
	}
	event->integers[C_CPU] %= replay_cpus;
	event->integers[C_TIME] = event->integers[C_TIME] << 9 | number;
	event_encode(event, arena, rng);
}

void dataset_measure(struct dataset *dataset)
{
	for (u32 i = 0; i < C_N; i++) {
		dataset->lo[i] = dataset->hi[i] =
			dataset->n_events ? dataset->events[0].integers[i] : 0;
		for (u32 j = 0; j < dataset->n_events; j++) {
			s128 v = dataset->events[j].integers[i];

			dataset->lo[i] = MIN(dataset->lo[i], v);
			dataset->hi[i] = MAX(dataset->hi[i], v);
		}
	}
}

void dataset_random(struct dataset *dataset, struct arena *arena, u32 which, u64 seed)
{
	static const struct {
		const char *name;
		u32 n_events;
		s32 style; /* -1: chosen for each column */
	} kinds[N_DATASETS] = {
		{ "small", 300, STYLE_SMALL },
		{ "medium", 300, STYLE_MEDIUM },
		{ "wide", 200, STYLE_WIDE },
		{ "extremes", 200, STYLE_EXTREMES },
		{ "powers", 200, STYLE_POWERS },
		{ "mixed", 300, -1 },
		{ "few", 5, -1 },
		{ "none", 0, 0 },
	};
	struct rng rng = { seed * 1000 + which };
	enum style styles[C_N];

	dataset->name = kinds[which].name;
	dataset->arena = arena;
	dataset->n_events = kinds[which].n_events;
	dataset->events = arena_array(arena, struct event, dataset->n_events);
	for (u32 i = 0; i < C_N; i++)
		styles[i] =
			kinds[which].style < 0 ? (s32)rng_below(&rng, STYLE_N) : kinds[which].style;
	for (u32 i = 0; i < dataset->n_events; i++)
		random_event(&rng, &dataset->events[i], styles, i, arena);
	dataset_measure(dataset);
}
