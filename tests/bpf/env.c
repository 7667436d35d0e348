/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The helpers and maps of the test world, as the kernel has them, and the
 * source of random choices.
 */
#include <errno.h>
#include <string.h>

#include "env.h"

u64 source_u64(struct source *source)
{
	u64 value = 0;

	if (!source->bytes) {
		/* splitmix64 */
		u64 z = source->state += 0x9e3779b97f4a7c15ull;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
		return z ^ z >> 31;
	}
	for (u32 i = 0; i < 8 && source->at < source->n; i++)
		value |= (u64)source->bytes[source->at++] << 8 * i;
	return value;
}

/* Takes one byte where one is enough, so that a fuzzer's bytes reach far. */
u32 source_below(struct source *source, u32 limit)
{
	if (source->bytes && limit <= 256)
		return source->at < source->n ? source->bytes[source->at++] % limit : 0;
	return (u32)(source_u64(source) % limit);
}

u64 env_map_token(u32 map)
{
	return 0xffff888000000000ull + map;
}

u8 *env_map_value(struct env *env, u32 map)
{
	return map == ENV_MAP_DATA ? env->data : env->rows;
}

static u64 row_lookup(struct env *env, u64 key)
{
	u32 row;

	memcpy(&row, (void *)(uintptr_t)key, sizeof(row));
	return row < ENV_ROWS ? (uintptr_t)(env->rows + row * ENV_ROW_BYTES) : 0;
}

/* array_map_update_elem() of kernel/bpf/arraymap.c */
static u64 row_update(struct env *env, u64 key, u64 value, u64 flags)
{
	u32 row;

	memcpy(&row, (void *)(uintptr_t)key, sizeof(row));
	if (flags > BPF_EXIST)
		return (u64)-EINVAL;
	if (row >= ENV_ROWS)
		return (u64)-E2BIG;
	if (flags & BPF_NOEXIST)
		return (u64)-EEXIST;
	memcpy(env->rows + row * ENV_ROW_BYTES, (void *)(uintptr_t)value, ENV_ROW_BYTES);
	return 0;
}

u64 env_call(struct env *env, u32 helper, const u64 args[5])
{
	switch (helper) {
	case BPF_FUNC_ktime_get_ns:
		return 123456789;
	case BPF_FUNC_get_current_pid_tgid:
		return env->pid_tgid;
	case BPF_FUNC_get_smp_processor_id:
		return env->cpu;
	case BPF_FUNC_map_lookup_elem:
		BUG_ON(args[0] != env_map_token(ENV_MAP_ROWS));
		return row_lookup(env, args[1]);
	case BPF_FUNC_map_update_elem:
		BUG_ON(args[0] != env_map_token(ENV_MAP_ROWS));
		return row_update(env, args[1], args[2], args[3]);
	case BPF_FUNC_probe_read_kernel:
		memcpy((void *)(uintptr_t)args[0], (void *)(uintptr_t)args[2], (u32)args[1]);
		return 0;
	case ENV_MIX_HELPER:
		return args[0] + 3 * args[1] + 5 * args[2] + 7 * args[3] + 11 * args[4] + helper;
	}
	BUG("helper %u", helper);
}
