/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Physical plans -> maps: the slots and the constants of all programs, and each part's own:
 * the control and state pages (mapped into this process), the ring buffer, the tables of
 * starts, and the hash maps of STATE_KERNEL_MAP.  Only what the state layout or a relocation
 * asks for is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load/internal.h"

/* A map by what it is for, and what helps where the kernel has no room for it. */
struct map_kind {
	const char *name, *hint;
};

static const struct map_kind shared_kinds[] = {
	[LOAD_MAP_SLOTS] = { "ebql_slots", "the kernel is short of memory" },
	[LOAD_MAP_CONST] = { "ebql_const", "the kernel is short of memory" },
	[LOAD_MAP_CHAIN] = { "ebql_chain", "the kernel is short of memory" },
	[LOAD_MAP_MARKS] = { "ebql_marks", "the kernel is short of memory" },
	[LOAD_MAP_STACKS] = { "ebql_stacks", "SET stacks to less" },
};
_Static_assert(ARRAY_SIZE(shared_kinds) == LOAD_MAP_SHARED_N, "a map has no entry");

static const struct map_kind kinds[] = {
	[LOAD_MAP_CONTROL] = { "ebql_ctl", "the kernel is short of memory" },
	[LOAD_MAP_STATE] = { "ebql_state", "SET max_groups to less" },
	[LOAD_MAP_RING] = { "ebql_ring", "SET ring_bytes to less" },
	[LOAD_MAP_HASH0] = { "ebql_groups0", "SET max_groups to less" },
	[LOAD_MAP_HASH1] = { "ebql_groups1", "SET max_groups to less" },
	[LOAD_MAP_PAIR] = { "ebql_starts",
			    "SET max_in_flight to less, or max_groups if there are running sums" },
	[LOAD_MAP_BUDGET] = { "ebql_budget", "the kernel is short of memory" },
	[LOAD_MAP_WAKE] = { "ebql_wake", "the kernel is short of memory" },
};
_Static_assert(ARRAY_SIZE(kinds) == LOAD_MAP_N, "a map has no entry");

static size_t slots_bytes(const struct phys_set *set)
{
	return phys_epochs_bytes(set, phys_n_blocks(set)) + set->n_parts * sizeof(u64);
}

/* Adds the diagnostic; returns -errno. */
static int map_failed(const struct map_kind *kind, u64 bytes, int error, struct diags *diags)
{
	struct diag *diag;

	if (error != ENOMEM && load_refused(error, "create a BPF map", diags))
		return -error;
	diag = diag_failure(diags, "map-create", "the kernel refused the map %s of %llu bytes: %s",
			    kind->name, (unsigned long long)bytes, strerror(error));
	if (error == E2BIG && kind == &kinds[LOAD_MAP_STATE] && bytes <= INT32_MAX)
		diag_hint(diags, diag,
			  "this kernel's array maps end at 4 MiB: SET max_groups to less, or SET "
			  "state = 'kernel_map'");
	else
		diag_hint(diags, diag, "%s", kind->hint);
	return -error;
}

/* Stores the descriptor; 0 or a diagnostic and -errno. */
static int map_create(const struct map_kind *kind, enum bpf_map_type type, u32 key_bytes,
		      u64 value_bytes, u64 max_entries, u32 flags, int *ret_fd, struct diags *diags)
{
	int fd;

	/* The kernel's own limit of a value, and the width of its fields. */
	if (value_bytes > INT32_MAX || max_entries > UINT32_MAX)
		return map_failed(kind, MAX(value_bytes, max_entries), E2BIG, diags);
	fd = sys_map_create(type, kind->name, key_bytes, value_bytes, max_entries, flags);
	if (fd < 0)
		return map_failed(kind, MAX(value_bytes, 1) * max_entries, -fd, diags);
	*ret_fd = fd;
	return 0;
}

/* An array of one value that this process and the programs read and write. */
static int shared_create(const struct map_kind *kind, u64 bytes, int *ret_fd, void **ret_at,
			 struct diags *diags)
{
	int err = map_create(kind, BPF_MAP_TYPE_ARRAY, 4, bytes, 1, BPF_F_MMAPABLE, ret_fd, diags);

	if (err)
		return err;
	err = sys_map_memory(*ret_fd, bytes, ret_at);
	return err ? map_failed(kind, bytes, -err, diags) : 0;
}

static bool is_referenced(const struct load_hooks *hooks, u32 number)
{
	for (u32 i = 0; i < hooks->n_programs; i++) {
		const struct bpf_code *code = &hooks->programs[i].code;

		for (u32 j = 0; j < code->n_relocs; j++)
			if (code->relocs[j].map == number)
				return true;
	}
	return false;
}

/*
 * Filled once, then frozen: with BPF_F_RDONLY_PROG that lets the verifier take its
 * bytes as known.  (A frozen map may be mapped for reading only, and a map that is
 * mapped for writing cannot be frozen; nobody maps this one.)
 */
int load_const_open(struct load_hooks *hooks, struct diags *diags)
{
	const struct map_kind *kind = &shared_kinds[LOAD_MAP_CONST];
	int *fd = &hooks->map_fds[LOAD_MAP_CONST], err;
	u32 zero = 0;

	if (!is_referenced(hooks, LOAD_MAP_CONST))
		return 0;
	BUG_ON(!hooks->constants_bytes);
	err = map_create(kind, BPF_MAP_TYPE_ARRAY, 4, hooks->constants_bytes, 1, BPF_F_RDONLY_PROG,
			 fd, diags);
	if (!err) {
		err = sys_map_element(BPF_MAP_UPDATE_ELEM, *fd, &zero, (void *)hooks->constants);
		if (!err)
			err = sys_map_freeze(*fd);
		if (err)
			err = map_failed(kind, hooks->constants_bytes, -err, diags);
	}
	return err;
}

/* The kernel wants a power of two and whole pages; more than asked for, never less. */
static int ring_create(struct load_state *state, struct diags *diags)
{
	u64 bytes = sysconf(_SC_PAGESIZE);

	while (bytes < state->phys->settings->ring_bytes && bytes <= UINT32_MAX)
		bytes *= 2;
	return map_create(&kinds[LOAD_MAP_RING], BPF_MAP_TYPE_RINGBUF, 0, 0, bytes, 0,
			  &state->map_fds[LOAD_MAP_RING], diags);
}

/*
 * One map a copy; the key words and, last, cpu * n_levels + level, so that a row has
 * one writer.  Room for max_groups groups on every CPU, state_layout.all_rows.
 *
 * Entries are allocated when they are inserted: 32,768 rows made beforehand cost
 * milliseconds at start.  Before 6.1 (bpf_mem_alloc, commit 7c8199e24fa0) that was
 * not safe in tracing programs and warned; those kernels get them beforehand.
 */
static int hash_create(struct load_state *state, enum load_map map, struct diags *diags)
{
	const struct state_layout *layout = &state->phys->state;
	u32 flags = sys_kernel_version() >= KERNEL_VERSION(6, 1, 0) ? BPF_F_NO_PREALLOC : 0;

	return map_create(&kinds[map], BPF_MAP_TYPE_HASH, layout->key_words * 8 + 8,
			  layout->row_bytes, layout->all_rows, flags, &state->map_fds[map], diags);
}

static bool is_named(const struct load_hooks *hooks, const struct load_state *state,
		     enum load_map map)
{
	return is_referenced(hooks, load_map_number(state->phys, map));
}

/*
 * Programs read the places of a bucket's slots in the header: see struct phys_join.  All
 * pages of a mapped array count as ours from mmap() on (remap_vmalloc_range()), and this
 * process looks at the starts once, at the end: it maps them in pieces then.
 */
static int pairs_create(struct load_state *state, struct diags *diags)
{
	const struct phys *phys = state->phys;
	void *at = NULL;
	int err = shared_create(&kinds[LOAD_MAP_PAIR], phys->pair_bytes,
				&state->map_fds[LOAD_MAP_PAIR], &at, diags);

	for (u32 i = 0; !err && i < phys->n_joins; i++) {
		const struct phys_join *join = &phys->joins[i];
		u64 *header = (u64 *)((u8 *)at + join->offset_bytes);

		for (u32 way = 0; way < PAIR_WAYS; way++)
			header[way] = (u64)way * join->slot_bytes;
	}
	if (!err)
		munmap(at, phys->pair_bytes);
	return err;
}

/* The table of a part that keeps its starts there, too; it lives as long as one of them. */
static int pairs_join(const struct load_hooks *hooks, struct load_state *state, struct diags *diags)
{
	for (u32 i = 0; i < hooks->n_states; i++) {
		const struct load_state *other = &hooks->states[i];
		int fd = other->map_fds[LOAD_MAP_PAIR], *to = &state->map_fds[LOAD_MAP_PAIR];

		if (other == state || fd < 0 || other->phys->starts != state->phys->starts)
			continue;
		state->has_joined = hooks->chains != NULL;
		*to = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return *to < 0 ? map_failed(&kinds[LOAD_MAP_PAIR], state->phys->pair_bytes, errno,
					    diags)
			       : 0;
	}
	return pairs_create(state, diags);
}

static size_t budget_bytes(const struct phys *phys)
{
	return sizeof(struct budget) + phys->state.n_cpus * sizeof(struct budget_line);
}

static int budget_create(struct load_state *state, struct diags *diags)
{
	void *at = NULL;
	int err = shared_create(&kinds[LOAD_MAP_BUDGET], budget_bytes(state->phys),
				&state->map_fds[LOAD_MAP_BUDGET], &at, diags);

	state->budget = at;
	if (!at)
		return err;
	*state->budget = (struct budget){ .mark_ns = UINT64_MAX,
					  .limit_ns = UINT64_MAX,
					  .threshold = BUDGET_ALL };
	for (u32 cpu = 0; cpu < state->phys->state.n_cpus; cpu++)
		((struct budget_line *)(state->budget + 1))[cpu] = (struct budget_line){
			.mean = 8 * BUDGET_FIRST,
			.clock = budget_clock_eighths(state->phys->settings),
		};
	return 0;
}

/* Its records are never read: what is there is taken by the position alone. */
static int wake_create(struct load_state *state, struct diags *diags)
{
	u64 page = sysconf(_SC_PAGESIZE);
	int *fd = &state->map_fds[LOAD_MAP_WAKE];
	void *at = MAP_FAILED;
	int err = map_create(&kinds[LOAD_MAP_WAKE], BPF_MAP_TYPE_RINGBUF, 0, 0, page, 0, fd, diags);

	if (err)
		return err;
	err = sys_map_memory(*fd, page, (void **)&state->wakes_taken);
	if (!err)
		at = mmap(NULL, page, PROT_READ, MAP_SHARED, *fd, page);
	if (at == MAP_FAILED)
		return map_failed(&kinds[LOAD_MAP_WAKE], page, err ? -err : errno, diags);
	state->wakes = at;
	return 0;
}

void load_take_wakes(struct load_state *state)
{
	__atomic_store_n(state->wakes_taken, __atomic_load_n(state->wakes, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

int load_state_open(const struct load_hooks *hooks, struct load_state *state, struct diags *diags)
{
	const struct phys *phys = state->phys;
	void *at = NULL;
	int err = 0;

	if (phys->n_joins || is_named(hooks, state, LOAD_MAP_CONTROL))
		err = shared_create(&kinds[LOAD_MAP_CONTROL], phys_control_bytes(state->phys),
				    &state->map_fds[LOAD_MAP_CONTROL], &at, diags);
	state->control = at;
	at = NULL;
	if (!err && phys->state.total_bytes)
		err = shared_create(&kinds[LOAD_MAP_STATE], phys->state.total_bytes,
				    &state->map_fds[LOAD_MAP_STATE], &at, diags);
	state->state = at;
	if (!err && phys->pair_bytes)
		err = pairs_join(hooks, state, diags);
	if (!err && is_named(hooks, state, LOAD_MAP_RING))
		err = ring_create(state, diags);
	if (!err && is_named(hooks, state, LOAD_MAP_BUDGET))
		err = budget_create(state, diags);
	if (!err && is_named(hooks, state, LOAD_MAP_WAKE))
		err = wake_create(state, diags);
	for (u32 map = LOAD_MAP_HASH0; map <= LOAD_MAP_HASH1; map++)
		if (!err && is_named(hooks, state, map))
			err = hash_create(state, map, diags);
	return err;
}

int load_slots_open(struct load_hooks *hooks, struct diags *diags)
{
	const struct phys_set *set = hooks->set;
	void *at = NULL;
	int err = shared_create(&shared_kinds[LOAD_MAP_SLOTS], slots_bytes(set),
				&hooks->map_fds[LOAD_MAP_SLOTS], &at, diags);

	if (err)
		return err;
	hooks->slots = at;
	hooks->missed = (u64 *)((u8 *)at + phys_epochs_bytes(set, phys_n_blocks(set)));
	for (u32 i = 0; i < phys_n_blocks(set) * set->n_cpus; i++)
		for (u32 level = 0; level < SLOTS_MAX; level++)
			hooks->slots[i].slots[level] = slot_word(level, 0);
	return 0;
}

int load_stacks_open(struct load_hooks *hooks, struct diags *diags)
{
	void *at = NULL;
	int err;

	if (hooks->stacks || !is_referenced(hooks, LOAD_MAP_STACKS))
		return 0;
	err = shared_create(&shared_kinds[LOAD_MAP_STACKS], stacks_bytes(hooks->set),
			    &hooks->map_fds[LOAD_MAP_STACKS], &at, diags);
	hooks->stacks = err ? NULL : load_stacks_new(hooks->set, at);
	if (!err && !hooks->stacks) {
		munmap(at, stacks_bytes(hooks->set));
		err = -ENOMEM;
	}
	return err;
}

int load_chain_map_open(int *ret_fd, struct diags *diags)
{
	return map_create(&shared_kinds[LOAD_MAP_CHAIN], BPF_MAP_TYPE_PROG_ARRAY, 4, 4,
			  CHAIN_PLACES, 0, ret_fd, diags);
}

int load_marks_open(struct load_hooks *hooks, struct diags *diags)
{
	sys_close(&hooks->map_fds[LOAD_MAP_MARKS]);
	return map_create(&shared_kinds[LOAD_MAP_MARKS], BPF_MAP_TYPE_ARRAY, 4, MARKS_BYTES, 1, 0,
			  &hooks->map_fds[LOAD_MAP_MARKS], diags);
}

void load_marks_close(struct load_hooks *hooks)
{
	sys_close(&hooks->map_fds[LOAD_MAP_MARKS]);
}

int load_maps_open(struct load_hooks *hooks, struct diags *diags)
{
	int err = load_slots_open(hooks, diags);

	if (!err)
		err = load_const_open(hooks, diags);
	if (!err)
		err = load_stacks_open(hooks, diags);
	for (u32 i = 0; i < hooks->n_states && !err; i++)
		err = load_state_open(hooks, &hooks->states[i], diags);
	return err;
}

void load_state_close(struct load_state *state)
{
	if (state->control)
		munmap(state->control, phys_control_bytes(state->phys));
	if (state->state)
		munmap(state->state, state->phys->state.total_bytes);
	if (state->budget)
		munmap(state->budget, budget_bytes(state->phys));
	if (state->wakes_taken)
		munmap(state->wakes_taken, (size_t)sysconf(_SC_PAGESIZE));
	if (state->wakes)
		munmap((void *)state->wakes, (size_t)sysconf(_SC_PAGESIZE));
	state->control = NULL;
	state->state = NULL;
	state->budget = NULL;
	state->wakes_taken = NULL;
	state->wakes = NULL;
	for (u32 i = 0; i < LOAD_MAP_N; i++)
		sys_close(&state->map_fds[i]);
}

void load_maps_close(struct load_hooks *hooks)
{
	for (u32 i = 0; i < hooks->n_states; i++)
		load_state_close(&hooks->states[i]);
	if (hooks->slots)
		munmap(hooks->slots, slots_bytes(hooks->set));
	hooks->slots = NULL;
	load_stacks_free(hooks->stacks);
	hooks->stacks = NULL;
	for (u32 i = 0; i < LOAD_MAP_SHARED_N; i++)
		sys_close(&hooks->map_fds[i]);
}

int load_map_fd(const struct load_hooks *hooks, u32 number)
{
	u32 of_parts = number - LOAD_MAP_SHARED_N;

	if (number < LOAD_MAP_SHARED_N)
		return hooks->map_fds[number];
	if (of_parts / LOAD_MAP_N >= hooks->n_states)
		return -1;
	return hooks->states[of_parts / LOAD_MAP_N].map_fds[of_parts % LOAD_MAP_N];
}
