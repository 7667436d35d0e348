/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Physical plan -> maps: the control and state pages (mapped into this process),
 * the ring buffer, the constants, and the hash maps of STATE_KERNEL_MAP.  Only
 * what the state layout or a relocation asks for is made.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load/internal.h"

static const char *const map_names[LOAD_MAP_N] = {
	[LOAD_MAP_CONTROL] = "ebql_ctl",   [LOAD_MAP_STATE] = "ebql_state",
	[LOAD_MAP_RING] = "ebql_ring",	   [LOAD_MAP_CONST] = "ebql_const",
	[LOAD_MAP_HASH0] = "ebql_groups0", [LOAD_MAP_HASH1] = "ebql_groups1",
	[LOAD_MAP_PAIR] = "ebql_starts",
};

static size_t page_align(u64 bytes)
{
	u64 page_bytes = sysconf(_SC_PAGESIZE);

	return ALIGN_UP(bytes, page_bytes);
}

static size_t control_bytes(const struct load *load)
{
	return (size_t)load->phys->state.n_cpus * sizeof(struct control_line);
}

/* Adds the diagnostic; returns -errno. */
static int map_failed(enum load_map map, u64 bytes, int error, struct diags *diags)
{
	struct diag *diag;

	if (load_refused(error, "create a BPF map", diags))
		return -error;
	diag = diag_plain(diags, "map-create", "the kernel refused the map %s of %llu bytes: %s",
			  map_names[map], (unsigned long long)bytes, strerror(error));
	if (map == LOAD_MAP_RING)
		diag_hint(diags, diag, "SET ring_bytes to less");
	else if (map == LOAD_MAP_CONTROL || map == LOAD_MAP_CONST)
		diag_hint(diags, diag, "the kernel is short of memory");
	else if (map == LOAD_MAP_PAIR)
		diag_hint(diags, diag,
			  "SET max_in_flight to less, or max_groups if there are running sums");
	else if (error == E2BIG && map == LOAD_MAP_STATE && bytes <= INT32_MAX)
		diag_hint(diags, diag,
			  "this kernel's array maps end at 4 MiB: SET max_groups to less, or SET "
			  "state = 'kernel_map'");
	else
		diag_hint(diags, diag, "SET max_groups to less");
	return -error;
}

/* Stores the descriptor in load; 0 or a diagnostic and -errno. */
static int map_create(struct load *load, enum load_map map, enum bpf_map_type type, u32 key_bytes,
		      u64 value_bytes, u64 max_entries, u32 flags, struct diags *diags)
{
	int fd;

	/* The kernel's own limit of a value, and the width of its fields. */
	if (value_bytes > INT32_MAX || max_entries > UINT32_MAX)
		return map_failed(map, MAX(value_bytes, max_entries), E2BIG, diags);
	fd = sys_map_create(type, map_names[map], key_bytes, value_bytes, max_entries, flags);
	if (fd < 0)
		return map_failed(map, MAX(value_bytes, 1) * max_entries, -fd, diags);
	load->map_fds[map] = fd;
	return 0;
}

/* An array of one value that this process and the programs read and write. */
static int shared_create(struct load *load, enum load_map map, u64 bytes, void **ret_at,
			 struct diags *diags)
{
	void *at;
	int err = map_create(load, map, BPF_MAP_TYPE_ARRAY, 4, bytes, 1, BPF_F_MMAPABLE, diags);

	if (err)
		return err;
	at = mmap(NULL, page_align(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, load->map_fds[map],
		  0);
	if (at == MAP_FAILED)
		return map_failed(map, bytes, errno, diags);
	*ret_at = at;
	return 0;
}

/*
 * Filled once, then frozen: with BPF_F_RDONLY_PROG that lets the verifier take its
 * bytes as known.  (A frozen map may be mapped for reading only, and a map that is
 * mapped for writing cannot be frozen; nobody maps this one.)
 */
static int const_create(struct load *load, struct diags *diags)
{
	int err;

	BUG_ON(!load->constants_bytes);
	err = map_create(load, LOAD_MAP_CONST, BPF_MAP_TYPE_ARRAY, 4, load->constants_bytes, 1,
			 BPF_F_RDONLY_PROG, diags);
	if (!err) {
		err = sys_map_store(load->map_fds[LOAD_MAP_CONST], load->constants);
		if (!err)
			err = sys_map_freeze(load->map_fds[LOAD_MAP_CONST]);
		if (err)
			err = map_failed(LOAD_MAP_CONST, load->constants_bytes, -err, diags);
	}
	return err;
}

/* The kernel wants a power of two and whole pages; more than asked for, never less. */
static int ring_create(struct load *load, struct diags *diags)
{
	u64 bytes = sysconf(_SC_PAGESIZE);

	while (bytes < load->phys->settings->ring_bytes && bytes <= UINT32_MAX)
		bytes *= 2;
	return map_create(load, LOAD_MAP_RING, BPF_MAP_TYPE_RINGBUF, 0, 0, bytes, 0, diags);
}

/*
 * One map a copy; the key words and, last, cpu * n_levels + level, so that a row has
 * one writer.  Room for max_groups groups on every CPU (a group met on each level of
 * nesting is rare enough to share that room), up to 4 Mi entries, whose bucket heads
 * alone take 64 MiB.
 *
 * Entries are allocated when they are inserted: 32,768 rows made beforehand cost
 * milliseconds at start.  Before 6.1 (bpf_mem_alloc, commit 7c8199e24fa0) that was
 * not safe in tracing programs and warned; those kernels get them beforehand.
 */
static int hash_create(struct load *load, enum load_map map, struct diags *diags)
{
	const struct state_layout *state = &load->phys->state;
	u64 max_entries = MIN(MAX(state->max_groups, 1) * state->n_cpus, 1ull << 22);
	u32 flags = load_kernel_version() >= LOAD_VERSION(6, 1, 0) ? BPF_F_NO_PREALLOC : 0;

	return map_create(load, map, BPF_MAP_TYPE_HASH, state->key_words * 8 + 8, state->row_bytes,
			  max_entries, flags, diags);
}

static bool is_referenced(const struct load *load, enum load_map map)
{
	for (u32 i = 0; i < load->n_programs; i++) {
		const struct bpf_code *code = &load->programs[i].code;

		for (u32 j = 0; j < code->n_relocs; j++)
			if (code->relocs[j].map == (u32)map)
				return true;
	}
	return false;
}

/*
 * Programs read the places of a bucket's slots in the header: see struct phys_join.  All
 * pages of a mapped array count as ours from mmap() on (remap_vmalloc_range()), and this
 * process looks at the starts once, at the end: it maps them in pieces then.
 */
static int pairs_create(struct load *load, struct diags *diags)
{
	void *at = NULL;
	int err = shared_create(load, LOAD_MAP_PAIR, load->phys->pair_bytes, &at, diags);

	for (u32 i = 0; !err && i < load->phys->n_joins; i++) {
		const struct phys_join *join = &load->phys->joins[i];
		u64 *header = (u64 *)((u8 *)at + join->offset_bytes);

		for (u32 way = 0; way < PAIR_WAYS; way++)
			header[way] = (u64)way * join->slot_bytes;
	}
	if (!err)
		munmap(at, page_align(load->phys->pair_bytes));
	return err;
}

int load_maps_open(struct load *load, struct diags *diags)
{
	const struct state_layout *state = &load->phys->state;
	void *at = NULL;
	int err = shared_create(load, LOAD_MAP_CONTROL, control_bytes(load), &at, diags);

	load->control = at;
	for (u32 cpu = 0; !err && cpu < state->n_cpus; cpu++)
		for (u32 level = 0; level < SLOTS_MAX; level++)
			load->control[cpu].slots[level] = slot_word(level, 0);
	at = NULL;
	if (!err && state->total_bytes)
		err = shared_create(load, LOAD_MAP_STATE, state->total_bytes, &at, diags);
	load->state = at;
	if (!err && load->phys->pair_bytes)
		err = pairs_create(load, diags);
	if (!err && is_referenced(load, LOAD_MAP_CONST))
		err = const_create(load, diags);
	if (!err && is_referenced(load, LOAD_MAP_RING))
		err = ring_create(load, diags);
	if (!err && is_referenced(load, LOAD_MAP_HASH0))
		err = hash_create(load, LOAD_MAP_HASH0, diags);
	if (!err && is_referenced(load, LOAD_MAP_HASH1))
		err = hash_create(load, LOAD_MAP_HASH1, diags);
	return err;
}

void load_maps_close(struct load *load)
{
	if (load->control)
		munmap(load->control, page_align(control_bytes(load)));
	if (load->state)
		munmap(load->state, page_align(load->phys->state.total_bytes));
	load->control = NULL;
	load->state = NULL;
	for (u32 i = 0; i < LOAD_MAP_N; i++)
		load_close_fd(&load->map_fds[i]);
}
