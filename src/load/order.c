/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two hooks of one event: whose program has it first, and when have all events that began before
 * passed both.
 *
 * The raw tracepoint sys_enter calls what is attached to it in the order of attaching, and all perf
 * tracepoints of calls are one of those, which stands where the first of them put it, whoever that
 * was.  So it is not known, but stays as it is while both are there, and one call of this thread
 * shows it.
 */
#include <errno.h>
#include <linux/version.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load/internal.h"

/* The map, as the programs name it, is that of the slots. */
struct order {
	u64 tid, n;
	u64 raw, perf; /* the place in the order of each, from 1 on */
};

/* Learns of which thread it is run. */
static struct ir *tid_program(struct arena *arena)
{
	struct ir *ir = ir_new(arena);
	vreg at = ir_reg(ir), tid = ir_reg(ir);

	ir_call(ir, tid, BPF_FUNC_get_current_pid_tgid, 0, NULL);
	ir_extend(ir, tid, tid, IR_U32);
	ir_map_value(ir, at, LOAD_MAP_SLOTS, 0);
	ir_store(ir, at, offsetof(struct order, tid), IR_U64, tid);
	ir_exit(ir, 0);
	return ir;
}

/* Notes when it has an event of that thread. */
static struct ir *order_program(struct arena *arena, size_t place)
{
	struct ir *ir = ir_new(arena);
	vreg at = ir_reg(ir), tid = ir_reg(ir), wanted = ir_reg(ir), n = ir_reg(ir);
	label out = ir_label(ir);

	ir_call(ir, tid, BPF_FUNC_get_current_pid_tgid, 0, NULL);
	ir_extend(ir, tid, tid, IR_U32);
	ir_map_value(ir, at, LOAD_MAP_SLOTS, 0);
	ir_load(ir, wanted, at, offsetof(struct order, tid), IR_U64);
	ir_branch(ir, IR_NE, tid, wanted, out);
	ir_load(ir, n, at, offsetof(struct order, n), IR_U64);
	ir_alui(ir, IR_ADD, n, n, 1);
	ir_store(ir, at, offsetof(struct order, n), IR_U64, n);
	ir_store(ir, at, (s32)place, IR_U64, n);
	ir_place(ir, out);
	ir_exit(ir, 0);
	return ir;
}

static int open_program(struct load_hooks *hooks, struct load_program *program,
			const struct hook *hook, struct ir *ir, struct diags *diags)
{
	const struct bpf_features features = { 0 };
	const char *reason;

	*program = (struct load_program){ .hook = hook, .fd = -1, .perf_fd = -1, .link_fd = -1 };
	if (bpf_compile(ir, hooks->arena, &features, &program->code, &reason))
		BUG("order: %s", reason);
	return load_program_open(hooks, program, diags);
}

static int learn_tid(struct load_hooks *hooks, struct diags *diags)
{
	const struct hook hook = { .path = ACCESS_RAW, .target = "order" };
	struct load_program program;
	u64 context = 0;
	u32 value;
	int err = open_program(hooks, &program, &hook, tid_program(hooks->arena), diags);

	if (!err)
		err = sys_prog_test_run(program.fd, &context, sizeof(context), 0, 0, &value);
	sys_close(&program.fd);
	return err;
}

/* Each has noted it once: a handler of a signal would have made calls of its own. */
static bool is_known(const struct order *order)
{
	return order->n == 2 && order->raw && order->perf;
}

/* Between the first line and the last this call is the only one of this thread. */
static bool make_call(volatile struct order *order, struct order *ret_order)
{
	order->n = order->raw = order->perf = 0;
	syscall(SYS_getppid);
	*ret_order = *order;
	return is_known(ret_order);
}

static int look(struct load_hooks *hooks, struct load_chain *chain, u32 tracepoint_id,
		struct order *order, struct order *ret_order, struct diags *diags)
{
	const struct hook perf_hook = { .path = ACCESS_TRACEPOINT,
					.target = "order",
					.tracepoint_id = tracepoint_id };
	const u32 last = CHAIN_PLACES - 1; /* it calls nobody behind it */
	struct load_program raw, perf = { .fd = -1, .perf_fd = -1, .link_fd = -1 };
	int err = chain->places >> last & 1 ? -EBUSY : learn_tid(hooks, diags);

	if (err)
		return err;
	err = open_program(hooks, &raw, &chain->hook,
			   order_program(hooks->arena, offsetof(struct order, raw)), diags);
	if (!err)
		err = open_program(hooks, &perf, &perf_hook,
				   order_program(hooks->arena, offsetof(struct order, perf)),
				   diags);
	if (!err)
		err = load_program_attach(&perf, diags);
	if (!err)
		err = load_chain_put(chain, last, raw.fd);
	/* The kernel may skip a program where another one runs. */
	for (u32 i = 0; !err && i < 10; i++)
		if (make_call(order, ret_order))
			break;
	load_chain_take(chain, last);
	load_closer_take(&hooks->chains->closer, &perf.link_fd);
	load_closer_take(&hooks->chains->closer, &perf.perf_fd);
	sys_close(&perf.fd);
	sys_close(&raw.fd);
	return err ?: is_known(ret_order) ? 0 : -EAGAIN;
}

/*
 * MEMBARRIER_CMD_GLOBAL waits for all that cannot be preempted.  From 6.13 on what is attached to a
 * system call's tracepoint may be, between two programs.  For that the kernel waits before it
 * closes the last perf event of a kind (perf_trace_event_unreg()), and no other wait that user
 * space has does; so it is an event of a kind that nobody else can have open.
 */
static bool is_preempted(void)
{
	return sys_kernel_version() >= KERNEL_VERSION(6, 13, 0);
}

int load_order(const struct load_hooks *of, const struct hook *raw, u32 tracepoint_id,
	       struct arena *arena, bool *ret_is_raw_first)
{
	struct load_hooks hooks = { .arena = arena, .chains = of->chains };
	struct load_chain *chain = load_chain_of(of->chains, raw);
	struct diags unheard;
	void *at = NULL;
	u32 type;
	int fd, err;

	diags_init(&unheard, arena, NULL, "", 0);
	if (!chain || (is_preempted() && !sys_has_uprobes(&type)))
		return -ENOENT;
	fd = sys_map_create(BPF_MAP_TYPE_ARRAY, "ebql_order", 4, sizeof(struct order), 1,
			    BPF_F_MMAPABLE);
	if (fd < 0)
		return fd;
	hooks.map_fds[LOAD_MAP_SLOTS] = fd;
	err = sys_map_memory(fd, sizeof(struct order), &at);
	if (!err) {
		struct order order = { 0 };

		err = look(&hooks, chain, tracepoint_id, at, &order, &unheard);
		*ret_is_raw_first = order.raw < order.perf;
		munmap(at, sizeof(struct order));
	}
	sys_close(&fd);
	return err;
}

int load_grace_begin(const struct load_hooks *hooks)
{
	int fd = is_preempted() ? sys_uprobe_open_own() : -1;

	if (fd < 0 && is_preempted())
		return fd;
	load_wait_for_programs(hooks->set->n_cpus);
	load_closer_take(&hooks->chains->closer, &fd);
	return 0;
}

bool load_grace_is_over(const struct load_hooks *hooks)
{
	return !load_closer_is_working(&hooks->chains->closer);
}
