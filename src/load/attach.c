/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs -> attached programs, all or none of them, and back.
 *
 * Every attachment is a descriptor of this process: whatever ends the process
 * detaches.  Perf events get the lowest of our descriptors, since a dying process
 * closes the highest first: links and programs are gone before the first perf
 * event's release, which waits for grace periods, holds the exit up.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/internal.h"

int load_perf_reserve(struct load_program *program)
{
	int fd;

	if (!load_kind(program)->open_event)
		return 0;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	program->perf_fd = fd;
	return 0;
}

static int open_tracepoint(struct load_program *program)
{
	return sys_perf_open(program->hook->tracepoint_id, (u32)MAX(sched_getcpu(), 0));
}

/*
 * Opens the perf event and puts it where load_perf_reserve() has kept a place.  A program on it
 * runs on every CPU, whichever the event is bound to (the programs hang on the tracepoint, not on
 * the event): any online CPU will do.
 */
static int perf_open(struct load_program *program)
{
	int fd = load_kind(program)->open_event(program);
	int err = 0;

	if (fd < 0)
		return fd;
	if (program->perf_fd < 0) { /* attached again after load_detach() */
		program->perf_fd = fd;
		return 0;
	}
	if (dup3(fd, program->perf_fd, O_CLOEXEC) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int perf_attach(struct load_program *program)
{
	return sys_perf_attach(program->perf_fd, program->fd, 0, &program->link_fd);
}

static void unlink_fd(int *fd, struct load_closer *closer)
{
	if (closer)
		load_closer_take(closer, fd);
	else
		sys_close(fd);
}

void load_unlink(struct load_program *program, struct load_closer *closer)
{
	for (u32 i = 0; i < program->n_events; i++) {
		if (program->hook->n_places > 1)
			load_tell_progress("detaching from", program->hook, i);
		unlink_fd(&program->events[i].link_fd, closer);
		unlink_fd(&program->events[i].fd, closer);
	}
	free(program->events);
	program->events = NULL;
	program->n_events = 0;
	unlink_fd(&program->link_fd, closer);
	unlink_fd(&program->perf_fd, closer);
}

/* A typed one: its BTF id was given when it was loaded. */
static int raw_attach(struct load_program *program)
{
	const struct hook *hook = program->hook;
	int fd = sys_raw_tracepoint_open(hook->is_typed ? NULL : hook->target, program->fd);

	if (fd < 0)
		return fd;
	program->link_fd = fd;
	return 0;
}

static int iterator_attach(struct load_program *program)
{
	int fd = sys_iterator_link(program->fd);

	if (fd < 0)
		return fd;
	program->link_fd = fd;
	return 0;
}

/*
 * Also those that the kprobe itself was not there for: while another one ran on that CPU, or, of
 * returns, while more calls were under way than it has room for.  The kernel tells since 6.7
 * (commit 3acf8ace6823).
 */
static u64 kprobe_link_misses(int link_fd)
{
	struct {
		u32 type, id, prog_id, unused, event_type, unused_too;
		u64 name;
		u32 name_bytes, offset;
		u64 address, missed, cookie;
	} link = { 0 }; /* struct bpf_link_info of a perf event's */

	return link_fd < 0 || sys_info(link_fd, &link, sizeof(link)) ? 0 : link.missed;
}

static u64 kprobe_misses(const struct load_program *program)
{
	u64 n = load_recursion_misses(program) + kprobe_link_misses(program->link_fd);

	for (u32 i = 0; i < program->hook->n_places && i < program->n_events; i++)
		n += kprobe_link_misses(program->events[i].link_fd);
	return n;
}

static u64 kprobe_multi_misses(const struct load_program *program)
{
	struct {
		u32 type, id, prog_id, unused;
		u64 addresses;
		u32 n_addresses, flags;
		u64 missed, cookies;
	} link = { 0 }; /* struct bpf_link_info of many functions' */

	if (program->link_fd < 0 || sys_info(program->link_fd, &link, sizeof(link)))
		link.missed = 0;
	return load_recursion_misses(program) + link.missed;
}

const struct load_kind load_kinds[] = {
	[ACCESS_TRACEPOINT] = { .name = "tracepoint",
				.type = BPF_PROG_TYPE_TRACEPOINT,
				.open_event = open_tracepoint,
				.attach = perf_attach,
				.missed = load_recursion_misses },
	[ACCESS_RAW] = { .name = "raw tracepoint",
			 .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			 .typed_type = BPF_PROG_TYPE_TRACING,
			 .typed_attach_type = BPF_TRACE_RAW_TP,
			 .attach = raw_attach,
			 .missed = load_recursion_misses },
	[ACCESS_RAW_SYSCALL] = { .name = "raw tracepoint",
				 .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
				 .typed_type = BPF_PROG_TYPE_TRACING,
				 .typed_attach_type = BPF_TRACE_RAW_TP,
				 .attach = raw_attach,
				 .missed = load_recursion_misses },
	[ACCESS_CALL] = { .name = "trampoline",
			  .typed_type = BPF_PROG_TYPE_TRACING,
			  .typed_attach_type = BPF_TRACE_FENTRY,
			  .typed_return_type = BPF_TRACE_FEXIT,
			  .attach = raw_attach,
			  .missed = load_recursion_misses },
	[ACCESS_TRAMPOLINE] = { .name = "trampoline",
				.typed_type = BPF_PROG_TYPE_TRACING,
				.typed_attach_type = BPF_TRACE_FENTRY,
				.typed_return_type = BPF_TRACE_FEXIT,
				.attach = raw_attach,
				.missed = load_recursion_misses },
	[ACCESS_KPROBE] = { .name = "kprobe",
			    .type = BPF_PROG_TYPE_KPROBE,
			    .open_event = load_place_open,
			    .attach = load_places_attach,
			    .missed = kprobe_misses },
	[ACCESS_KPROBE_MULTI] = { .name = "kprobe.multi",
				  .type = BPF_PROG_TYPE_KPROBE,
				  .attach_type = BPF_TRACE_KPROBE_MULTI,
				  .attach = load_multi_attach,
				  .missed = kprobe_multi_misses },
	[ACCESS_UPROBE] = { .name = "uprobe",
			    .type = BPF_PROG_TYPE_KPROBE,
			    .open_event = load_place_open,
			    .attach = load_places_attach,
			    .missed = load_recursion_misses },
	[ACCESS_UPROBE_MULTI] = { .name = "uprobe.multi",
				  .type = BPF_PROG_TYPE_KPROBE,
				  .attach_type = SYS_TRACE_UPROBE_MULTI,
				  .attach = load_multi_attach,
				  .missed = load_recursion_misses },
	[ACCESS_SAMPLE] = { .name = "perf event",
			    .type = BPF_PROG_TYPE_PERF_EVENT,
			    .attach = load_sample_attach,
			    .due = load_samples_due,
			    .missed = load_recursion_misses },
	[ACCESS_ITERATOR] = { .name = "iterator",
			      .typed_type = BPF_PROG_TYPE_TRACING,
			      .typed_attach_type = BPF_TRACE_ITER,
			      .attach = iterator_attach,
			      .missed = load_recursion_misses },
	[ACCESS_REPLAY] = { .name = "replay",
			    .type = BPF_PROG_TYPE_SYSCALL,
			    .flags = BPF_F_SLEEPABLE,
			    .missed = load_recursion_misses },
};
_Static_assert(ARRAY_SIZE(load_kinds) == ACCESS_N, "an access path has no entry");

static void hint_function(const struct hook *hook, int error, struct diags *diags,
			  struct diag *diag)
{
	struct function_code code;

	if (error == EILSEQ) {
		diag_hint(diags, diag, "no instruction begins there");
		return;
	}
	code = function_code(diags->arena, hook->target);
	if (error == E2BIG)
		diag_hint(diags, diag,
			  "the trampolines of a function take 38 programs, and these have them; "
			  "SET access_path = kprobe reads it another way");
	else if (code.text && (!code.is_there || !code.has_twin))
		diag_hint(diags, diag, "%s; %s", code.text, code.hint);
	else
		diag_hint(diags, diag,
			  "the function is left out of tracing (notrace, or in "
			  "/sys/kernel/debug/kprobes/blacklist): probe one that calls it");
}

static bool has_semaphore(const struct hook *hook)
{
	for (u32 i = 0; i < hook->n_places; i++)
		if (hook->places && hook->places[i].semaphore_offset)
			return true;
	return false;
}

/* -errno; or -EUNATCH: what the hook brings can be had another way. */
static int attach_failed(const struct load_program *program, int error, struct diags *diags)
{
	const struct hook *hook = program->hook;
	struct diag *diag;

	if ((hook->path == ACCESS_TRAMPOLINE || hook->path == ACCESS_CALL) && !hook->is_insisted &&
	    load_is_of_place(error) && load_refuse_trampoline(hook, error))
		return -EUNATCH;
	if (load_refused(error, arena_printf(diags->arena, "attach a %s", load_kind(program)->name),
			 diags))
		return -error;
	diag = diag_failure(diags, "attach-failed", "cannot attach to %s (%s): %s", hook->target,
			    load_kind(program)->name, strerror(error));
	if (error == EINTR)
		diag_hint(diags, diag, "you have ended it");
	else if (error == ENODEV && (hook->file_path || hook->path == ACCESS_KPROBE))
		diag_hint(diags, diag, "this kernel has no %cprobes, or has them switched off",
			  hook->file_path ? 'u' : 'k');
	else if (error == EACCES)
		diag_hint(diags, diag,
			  "kernel.perf_event_paranoid = 3 leaves perf events to CAP_SYS_ADMIN: "
			  "sysctl kernel.perf_event_paranoid=2, or run as root");
	else if (hook->file_path && error == ESRCH)
		diag_hint(diags, diag, "there is no process %d, which -p names", hook->pid);
	else if (error == EINVAL && has_semaphore(hook))
		diag_hint(diags, diag,
			  "somebody listens there by another semaphore, where the kernel takes one "
			  "at a place; or it is not the file that it was: %s",
			  hook->file_path);
	else if (hook->n_places > 1 && error != ESTALE)
		diag_hint(diags, diag, "the kernel refuses each of its places");
	else if (hook->path == ACCESS_KPROBE || hook->path == ACCESS_TRAMPOLINE)
		hint_function(hook, error, diags, diag);
	else if (hook->path == ACCESS_SAMPLE)
		diag_hint(diags, diag, "%s",
			  error == ENOENT || error == EOPNOTSUPP
				  ? "this machine counts no such events: a virtual one seldom does"
				  : "see /proc/sys/kernel/perf_event_paranoid");
	else if (hook->file_path)
		diag_hint(diags, diag, "%s%s",
			  error == ESTALE ? "the file was changed meanwhile: "
					  : "is it still the file that it was?  ",
			  hook->file_path);
	else if (hook->path == ACCESS_CALL)
		diag_hint(diags, diag, "SET access_path = raw reads it another way");
	else if (error == E2BIG)
		diag_hint(diags, diag, "a tracepoint takes 64 programs, and it has them");
	else if (error == ENOENT || error == EINVAL)
		diag_hint(diags, diag, "this kernel has no such tracepoint; see ebql list");
	return -error;
}

static const char *places_word(const struct hook *hook)
{
	return hook->file_path ? "places" : "functions";
}

/* Of a wildcard, or of a probe at several places. */
static void warn_left_out(const struct load_program *program, struct diags *diags)
{
	const struct hook *hook = program->hook;
	const char *hint = "/sys/kernel/debug/kprobes/blacklist has those where no probe may be";

	if (has_semaphore(hook))
		hint = "somebody listens there by another semaphore, where the kernel takes one at "
		       "a place; or at an instruction, as one with LOCK, that takes no probe";
	else if (hook->file_path)
		hint = "it takes no probe at some instructions, as those with LOCK, nor where "
		       "somebody listens by a semaphore";
	if (program->n_left_out)
		diag_warning(diags, "left-out", SPAN_NONE,
			     "%u of the %u %s of %s are left out: the kernel refuses to attach to "
			     "them" HINT "%s",
			     program->n_left_out, hook->n_places, places_word(hook), hook->target,
			     hint);
}

/*
 * Do starts of calls wait for their threads there, or for user space?  Not those of other keys:
 * they would crowd each other out for as long as no end comes.
 */
bool load_has_starts(const struct hook *hook)
{
	bool is_entry =
		(hook->path == ACCESS_RAW_SYSCALL || hook->path == ACCESS_CALL) && !hook->is_exit;

	for (u32 i = 0; is_entry && i < hook->n_uses; i++) {
		const struct hook_use *use = &hook->uses[i];

		if (use->phys->only_scans)
			return true;
		for (u32 k = 0; k < use->source->n_steps; k++)
			if (use->source->steps[k].kind == STEP_STORE &&
			    use->source->steps[k].join->kind == PAIR_THREAD)
				return true;
	}
	return false;
}

int load_program_attach(struct load_program *program, struct diags *diags)
{
	const struct load_kind *kind = load_kind(program);
	int err = kind->open_event ? perf_open(program) : 0;

	if (!err)
		err = kind->attach(program);
	if (err) {
		err = attach_failed(program, -err, diags);
		load_unlink(program, NULL);
	} else {
		warn_left_out(program, diags);
	}
	return err;
}

bool load_tell_fallback(const struct load_program *program, const struct load_state *state,
			struct buf *text)
{
	const struct hook *hook = program->hook;
	u32 n_left_out = load_entered(program)->n_left_out;

	if (!load_serves(program, state->phys->number) || !(hook->is_fallback || n_left_out))
		return false;
	buf_printf(text, "%s%s", text->n ? "; " : "", hook->target);
	if (hook->is_fallback)
		buf_printf(text, ": %s", hook->reason);
	if (n_left_out)
		buf_printf(text, ": the kernel refuses %u of its %u %s", n_left_out, hook->n_places,
			   places_word(hook));
	return true;
}

/* They first: so a thread has one end at most whose start was not seen. */
static int attach(struct load_hooks *hooks, bool are_starts, struct diags *diags)
{
	int err = 0;

	for (u32 i = 0; i < hooks->n_programs && !err; i++) {
		struct load_program *program = &hooks->programs[i];

		if (!load_kind(program)->attach || load_has_starts(program->hook) != are_starts)
			continue;
		err = load_kind(program)->attach(program);
		if (err)
			err = attach_failed(program, -err, diags);
		else
			warn_left_out(program, diags);
	}
	return err;
}

int load_attach(struct load_hooks *hooks, struct diags *diags)
{
	u64 start_ns = base_monotonic_ns();
	int err = 0;

	if (hooks->n_users++ || hooks->chains)
		return 0;
	for (u32 i = 0; i < hooks->n_states; i++)
		load_forget_starts(&hooks->states[i]);
	/* The slow part first: then the programs start within a short time of each other. */
	for (u32 i = 0; i < hooks->n_programs && !err; i++) {
		if (load_kind(&hooks->programs[i])->open_event)
			err = perf_open(&hooks->programs[i]);
		if (err)
			err = attach_failed(&hooks->programs[i], -err, diags);
	}
	if (!err)
		err = attach(hooks, true, diags);
	if (!err)
		err = attach(hooks, false, diags);
	if (err)
		load_detach(hooks);
	for (u32 i = 0; i < hooks->n_states && !err; i++)
		load_begin_starts(&hooks->states[i]);
	hooks->attach_ns = base_monotonic_ns() - start_ns;
	return err;
}

/*
 * The links first: from there on no program starts, whichever hook it hangs on.  The
 * last one first: closing the link of a perf event takes up to 30 ms, and starts, which
 * come behind their ends, must not pile up for want of these.
 * Closing a perf event then takes 35-85 ms, since the kernel waits for grace periods
 * with its event mutex held; threads that close several at once wait for each other
 * (8 events on 6.18: 275-370 ms one by one, 330-350 by 8 threads), so there are none.
 */
void load_detach(struct load_hooks *hooks)
{
	bool was_attached = false;

	if (hooks->n_users > 1 || (hooks->chains && hooks->n_users)) {
		hooks->n_users--;
		return;
	}
	hooks->n_users = 0;
	for (u32 i = hooks->n_programs; i-- > 0;) {
		struct load_program *program = &hooks->programs[i];

		was_attached |= load_is_attached(program);
		sys_close(&program->link_fd);
	}
	for (u32 i = 0; i < hooks->n_programs; i++)
		load_unlink(&hooks->programs[i], NULL);
	if (was_attached)
		load_wait_for_programs(hooks->set->n_cpus);
}
