/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opening, attaching, detaching, closing: what the maps hold, what each access
 * path counts, what refusals say, and that nothing stays behind, whatever ends it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions.h"
#include "left.h"
#include "sys/sys.h"
#include "query.h"

#define NEEDS_ROOT SKIP_UNLESS(geteuid() == 0, "needs root to load programs")
#define SECOND_NS  1000000000ull

static u64 counted(struct query *query)
{
	u64 n_torn = 0, sum = query_drain(query, 0, &n_torn) + query_drain(query, 1, &n_torn);

	assert_int_equal(n_torn, 0);
	return sum;
}

static void test_features(void **state)
{
	struct kernel_features features;
	int fd;

	NEEDS_ROOT;
	kernel_features_probe(&features);
	assert_true(features.version >= KERNEL_VERSION(5, 8, 0));
	assert_int_equal(features.has_btf, access("/sys/kernel/btf/vmlinux", R_OK) == 0);
	assert_int_equal(features.has_signed_division, features.version >= KERNEL_VERSION(6, 6, 0));
	fd = sys_map_create(BPF_MAP_TYPE_ARRAY, "ebql_test", 4, 5 << 20, 1, BPF_F_MMAPABLE);
	assert_int_equal(features.has_large_array_value, fd >= 0);
	close(fd);
	assert_in_range(load_possible_cpus(), sysconf(_SC_NPROCESSORS_ONLN), 8192);
}

/* Each path counts exactly the calls between attach and detach, and again after another attach. */
static void path_counts(enum access_path path)
{
	u32 n_files = left_open_files();
	struct query query;
	struct left left;
	cpu_set_t cpus;

	NEEDS_ROOT;
	query_stay_on_cpu(&cpus);
	query_init(&query, path);
	query_compile(&query, 0);
	query_open_ok(&query, 1);
	left_note(&query.load, &left);
	query_calls(10);
	assert_int_equal(counted(&query), 0);
	for (u32 i = 0; i < 2; i++) {
		query_attach_ok(&query);
		query_calls(1000);
		query_idle_event(&query);
		load_detach(&query.load);
		query_calls(10);
		assert_int_equal(counted(&query), 1000);
	}
	assert_int_equal(left_count(&left, 0), left.n_programs + left.n_maps);
	load_close(&query.load);
	assert_int_equal(left_count(&left, 20 * SECOND_NS), 0);
	assert_int_equal(left_open_files(), n_files);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	load_close(&query.load); /* once more does no harm */
	query_free(&query);
}

static void test_raw(void **state)
{
	path_counts(ACCESS_RAW);
}

static void test_raw_syscall(void **state)
{
	path_counts(ACCESS_RAW_SYSCALL);
}

static void test_tracepoint(void **state)
{
	path_counts(ACCESS_TRACEPOINT);
}

/* A look at the rates says how long it was, however late it was ended. */
static void test_survey(void **state)
{
	u64 start_ns = base_monotonic_ns(), inner_ns;
	struct load_survey survey;

	NEEDS_ROOT;
	assert_int_equal(load_survey_begin(&survey, QUERY_SYSCALL), 0);
	inner_ns = base_monotonic_ns();
	query_calls(1000);
	usleep(20000);
	inner_ns = base_monotonic_ns() - inner_ns;
	load_survey_end(&survey, NULL);
	assert_in_range(survey.ns, inner_ns, base_monotonic_ns() - start_ns);
	assert_true(survey.n_wanted >= 1000 && survey.n_all > survey.n_wanted);
}

static void test_typed_raw_syscall(void **state)
{
	struct query query;
	struct btf *btf;

	NEEDS_ROOT;
	btf = btf__load_vmlinux_btf();
	SKIP_UNLESS(btf, "kernel without BTF");
	query_init(&query, ACCESS_RAW_SYSCALL);
	query.hook[0].is_typed = true;
	query.hook[0].attach_btf_id =
		btf__find_by_name_kind(btf, "btf_trace_sys_enter", BTF_KIND_TYPEDEF);
	btf__free(btf);
	query_compile(&query, 0);
	query_open_ok(&query, 1);
	query_attach_ok(&query);
	query_calls(1000);
	load_detach(&query.load);
	assert_int_equal(counted(&query), 1000);
	load_close(&query.load);
	query_free(&query);
}

/* A program that refers to every map; two constants reach the state through it. */
static void test_all_maps(void **state)
{
	const u64 constants[] = { 0x1122334455667788ull, 42 };
	struct query query;
	struct ir *ir;
	vreg map, at, word, key, args[5];
	stack_object object;
	u32 value[2 * QUERY_WORDS] = { 0 };

	NEEDS_ROOT;
	query_init(&query, ACCESS_REPLAY);
	ir = ir_new(&query.arena);
	map = ir_reg(ir), at = ir_reg(ir), word = ir_reg(ir), key = ir_reg(ir);
	object = ir_stack(ir, 24);
	for (u32 i = 0; i < 3; i++)
		ir_stack_storei(ir, object, 8 * i, IR_U64, i + 1);
	ir_map_value(ir, at, LOAD_MAP_CONST, 8);
	ir_load(ir, word, at, 0, IR_U64);
	ir_map_value(ir, at, load_map_number(&query.phys, LOAD_MAP_STATE), 8 * COUNTER_N);
	ir_store(ir, at, 0, IR_U64, word);
	ir_map(ir, map, load_map_number(&query.phys, LOAD_MAP_RING));
	ir_imm(ir, word, BPF_RB_RING_SIZE);
	args[0] = map, args[1] = word;
	ir_call(ir, word, BPF_FUNC_ringbuf_query, 2, args);
	ir_store(ir, at, 8, IR_U64, word);
	ir_stack_address(ir, key, object, 0);
	ir_imm(ir, word, BPF_ANY);
	for (u32 i = LOAD_MAP_HASH0; i <= LOAD_MAP_HASH1; i++) {
		ir_map(ir, map, load_map_number(&query.phys, i));
		args[0] = map, args[1] = key, args[2] = at, args[3] = word;
		ir_call(ir, 0, BPF_FUNC_map_update_elem, 4, args);
	}
	ir_exit(ir, 0);
	query_compile_ir(&query, 0, ir);
	if (load_open(&query.load, &query.set, query.programs, constants, sizeof(constants),
		      &query.arena, &query.diags)) {
		query_show(&query);
		fail_msg("not opened");
	}
	assert_int_equal(query_run(&query, value, sizeof(value)), 0);
	assert_int_equal(query_row(&query, 0, 0)[0], 42);
	assert_int_equal(query_row(&query, 0, 0)[1], 128 * 1024); /* 100,000, rounded up */
	for (u32 i = LOAD_MAP_HASH0; i <= LOAD_MAP_HASH1; i++) {
		const u64 row_key[3] = { 1, 2, 3 };
		u64 row[QUERY_WORDS];

		assert_int_equal(sys_map_element(BPF_MAP_LOOKUP_ELEM, query.load.states->map_fds[i],
						 row_key, row),
				 0);
		assert_int_equal(row[0], 42);
	}
	/* Constants cannot be changed any more: the program alone has them. */
	assert_int_equal(query.load.map_fds[LOAD_MAP_CONST], -1);
	load_close(&query.load);
	query_free(&query);
}

/*
 * The kernel took a name, and the places of the query text, with the program.  How much the
 * verifier walked is known on every kernel, and is what those say that do (5.16).
 */
static void test_debug_info(void **state)
{
	struct bpf_prog_info info;
	struct query query;

	NEEDS_ROOT;
	query_init(&query, ACCESS_RAW);
	query_compile(&query, 0);
	query_open_ok(&query, 1);
	assert_int_equal(sys_info(query.load.programs[0].fd, &info, sizeof(info)), 0);
	assert_string_equal(info.name, "ebql_sys_enter");
	assert_true(info.btf_id > 0);
	assert_true(info.nr_line_info > 0);
	assert_true(query.load.programs[0].n_verified > 0);
	if (sys_kernel_version() >= KERNEL_VERSION(5, 16, 0))
		assert_int_equal(query.load.programs[0].n_verified, info.verified_insns);
	load_close(&query.load);
	query_free(&query);
}

/* For several parts: too much for the verifier is an error that the caller can mend. */
static void test_too_large_for_several(void **state)
{
	struct hook_use uses[2];
	struct query query;
	struct phys other;
	vreg id, sum, at;
	struct ir *ir;

	NEEDS_ROOT;
	query_init(&query, ACCESS_RAW);
	ir = ir_new(&query.arena);
	id = ir_reg(ir), sum = ir_reg(ir), at = ir_reg(ir);
	ir_load(ir, id, ir_context(ir), 8, IR_U64);
	ir_imm(ir, sum, 0);
	for (u32 i = 0; i < 24; i++) {
		label skip = ir_label(ir);

		ir_branchi(ir, IR_TEST, id, 1 << i, skip);
		ir_alui(ir, IR_ADD, sum, sum, 1 << i);
		ir_place(ir, skip);
	}
	/* As an offset the sum has to be known, so each of its 2^24 values is walked by itself. */
	ir_alui(ir, IR_AND, sum, sum, 63);
	ir_map_value(ir, at, load_map_number(&query.phys, LOAD_MAP_STATE), 0);
	ir_alu(ir, IR_ADD, at, at, sum);
	ir_store(ir, at, 0, IR_U8, sum);
	ir_exit(ir, 0);
	query_compile_ir(&query, 0, ir);
	other = query.phys;
	uses[0] = uses[1] = query.use;
	uses[1].phys = &other;
	query.hook[0].uses = uses;
	query.hook[0].n_uses = 2;
	assert_int_equal(query_open(&query, 1), -EFBIG);
	assert_false(diags_failed(&query.diags));
	assert_int_equal(query.load.too_large, 0);
	/* For one it is the user's. */
	query.hook[0].n_uses = 1;
	assert_true(query_open(&query, 1) < 0);
	query_contains(query_only_diag(&query, "too-much-to-verify")->hint, "two queries");
	query_free(&query);
}

/* Maps that nothing asks for are not made. */
static void test_no_more_maps_than_needed(void **state)
{
	struct query query;
	struct ir *ir;

	NEEDS_ROOT;
	query_init(&query, ACCESS_RAW);
	query.phys.state.total_bytes = 0;
	ir = ir_new(&query.arena);
	ir_exit(ir, 0);
	query_compile_ir(&query, 0, ir);
	query_open_ok(&query, 1);
	assert_non_null(query.load.slots);
	assert_null(query.load.states->state);
	for (u32 i = 0; i < LOAD_MAP_SHARED_N; i++)
		assert_int_equal(query.load.map_fds[i] >= 0, i == LOAD_MAP_SLOTS);
	for (u32 i = 0; i < LOAD_MAP_N; i++)
		assert_int_equal(query.load.states->map_fds[i], -1);
	load_close(&query.load);
	query_free(&query);
}

/* Replay: word 1 of the context is added to the state; the context itself stays as it was. */
static void test_replay(void **state)
{
	static const u64 record[4] = { 1, 30, 3, 4 };
	struct query query;
	struct ir *ir;
	vreg at, word, sum, other;

	NEEDS_ROOT;
	query_init(&query, ACCESS_REPLAY);
	ir = ir_new(&query.arena);
	at = ir_reg(ir), word = ir_reg(ir), sum = ir_reg(ir), other = ir_reg(ir);
	ir_load(ir, word, ir_context(ir), 8, IR_U64);
	/* No constant: 6.1 refuses an immediate store to the context. */
	ir_alui(ir, IR_ADD, other, word, 1);
	ir_store(ir, ir_context(ir), 8, IR_U64, other);
	ir_map_value(ir, at, load_map_number(&query.phys, LOAD_MAP_STATE), 8 * COUNTER_N);
	ir_load(ir, sum, at, 0, IR_U64);
	ir_alu(ir, IR_ADD, sum, sum, word);
	ir_store(ir, at, 0, IR_U64, sum);
	ir_exit(ir, 0);
	query_compile_ir(&query, 0, ir);
	query_open_ok(&query, 1);
	query_attach_ok(&query); /* nothing to attach to, and no error */
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(query_run(&query, record, sizeof(record)), 0);
	assert_int_equal(query_row(&query, 0, 0)[0], 90);
	assert_int_equal(record[1], 30);
	assert_int_equal(query_run(&query, record, 8), -EINVAL);
	load_close(&query.load);
	query_free(&query);
}

/* A load outside the state: refused; the diagnostic has the span of that very instruction. */
static void test_verifier(void **state)
{
	u32 n_files = left_open_files();
	const struct diag *diag;
	struct query query;
	struct ir *ir;
	vreg at, word;

	NEEDS_ROOT;
	query_init(&query, ACCESS_RAW);
	query_compile(&query, 0);
	ir = ir_new(&query.arena);
	at = ir_reg(ir), word = ir_reg(ir);
	ir_at(ir, (struct span){ 0, 6 });
	ir_map_value(ir, at, load_map_number(&query.phys, LOAD_MAP_STATE), 0);
	ir_load(ir, word, at, 0, IR_U64);
	ir_at(ir, (struct span){ 7, 15 });
	ir_load(ir, word, at, query.phys.state.total_bytes + 64, IR_U64);
	ir_at(ir, (struct span){ 16, 20 });
	ir_store(ir, at, 0, IR_U64, word);
	ir_exit(ir, 0);
	query_compile_ir(&query, 1, ir);
	assert_int_equal(query_open(&query, 2), -EACCES);
	diag = query_only_diag(&query, "verifier");
	assert_true(diag->has_span);
	assert_int_equal(diag->span.start, 7);
	assert_int_equal(diag->span.end, 15);
	query_contains(diag->message, "program on sys_enter");
	query_contains(diag->message, "invalid access to map value");
	assert_null(strchr(diag->message, '\n')); /* would be printed as "." */
	query_contains(diag->hint, "report");
	assert_int_equal(left_open_files(), n_files);
	assert_null(query.load.slots);
	query_free(&query);
}

/* Control flow that is refused before the first instruction is looked at. */
static void test_verifier_control_flow(void **state)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct span spans[] = { { 0, 6 }, { 0, 6 }, { 7, 15 }, { 16, 20 } };
	const struct diag *diag;
	struct query query;

	NEEDS_ROOT;
	query_init(&query, ACCESS_RAW);
	query.programs[0].code = (struct bpf_code){ .insns = insns, .n_insns = 4, .spans = spans };
	assert_int_equal(query_open(&query, 1), -EINVAL);
	diag = query_only_diag(&query, "verifier");
	assert_int_equal(diag->span.start, 7);
	query_contains(diag->message, "unreachable insn 2");
	query_free(&query);
}

static void test_map_too_large(void **state)
{
	u32 n_files = left_open_files();
	const struct diag *diag;
	struct query query;

	NEEDS_ROOT;
	query_init(&query, ACCESS_RAW);
	query_compile(&query, 0);
	query.phys.state.total_bytes = 5ull << 30;
	assert_int_equal(query_open(&query, 1), -E2BIG);
	diag = query_only_diag(&query, "map-create");
	query_contains(diag->message, "ebql_state of 5368709120 bytes");
	query_contains(diag->hint, "max_groups");
	assert_int_equal(left_open_files(), n_files);
	query_free(&query);
}

/* The second of two hooks does not exist: the first one is not attached either. */
static void attach_fails(enum access_path path, const char *hint)
{
	const struct diag *diag;
	struct query query;

	NEEDS_ROOT;
	query_init(&query, path);
	query.hook[1].target = "no_such_tracepoint";
	query.hook[1].tracepoint_id = 0x7ffffff;
	query_compile(&query, 0);
	query_compile(&query, 1);
	query_open_ok(&query, 2);
	assert_true(load_attach(&query.load, &query.diags) < 0);
	diag = query_only_diag(&query, "attach-failed");
	query_contains(diag->message, "no_such_tracepoint");
	query_contains(diag->hint, hint);
	query_calls(100);
	assert_int_equal(counted(&query), 0);
	load_close(&query.load);
	query_free(&query);
}

static void test_attach_fails_raw(void **state)
{
	attach_fails(ACCESS_RAW, "ebql list");
}

static void test_attach_fails_tracepoint(void **state)
{
	attach_fails(ACCESS_TRACEPOINT, "ebql list");
}

/* Between the plan and the attachment somebody has put another file into its place. */
static void test_attach_fails_changed(void **state)
{
	char path[] = "/tmp/ebql-test-XXXXXX";
	int fd = mkstemp(path);
	const struct diag *diag;
	struct hook_place place = { 0 };
	struct query query;
	struct stat stat;

	NEEDS_ROOT;
	assert_true(fd >= 0 && !fstat(fd, &stat));
	query_init(&query, ACCESS_UPROBE);
	query.hook[0].file_path = path;
	query.hook[0].places = &place;
	query.hook[0].n_places = 1;
	query.hook[0].file_id = file_id_of(&stat);
	query.hook[0].file_id.changed_ns--;
	query_compile(&query, 0);
	query_open_ok(&query, 1);
	assert_int_equal(load_attach(&query.load, &query.diags), -ESTALE);
	diag = query_only_diag(&query, "attach-failed");
	query_contains(diag->hint, "was changed");
	query_contains(diag->hint, path);
	load_close(&query.load);
	query_free(&query);
	close(fd);
	unlink(path);
}

/* Runs in a child, since capabilities do not come back; exits with the child's judgement. */
static void refused_without(u64 kept, const char *missing)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		const struct diag *diag;
		struct query query;

		query_init(&query, ACCESS_RAW);
		query_compile(&query, 0);
		left_keep_capabilities(kept);
		if (query_open(&query, 1) >= 0 || query.diags.n_errors != 1)
			_exit(1);
		diag = &query.diags.list.at[0];
		if (strcmp(diag->tag, "no-privilege") || !strstr(diag->message, missing) ||
		    !strstr(diag->hint, "setcap")) {
			query_show(&query);
			_exit(2);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_no_privilege(void **state)
{
	NEEDS_ROOT;
	refused_without(0, "needs CAP_BPF and CAP_PERFMON");
	refused_without(1ull << CAP_BPF, "needs CAP_PERFMON");
}

/* CAP_BPF and CAP_PERFMON are all that loading and attaching take. */
static void test_least_privilege(void **state)
{
	pid_t pid;
	int status;

	NEEDS_ROOT;
	pid = fork();
	if (!pid) {
		struct query query;

		query_init(&query, ACCESS_RAW);
		query_init(&query, ACCESS_TRACEPOINT);
		query.hook[1].path = ACCESS_RAW;
		query.hook[1].target = "sys_enter";
		query_compile(&query, 0);
		query_compile(&query, 1);
		left_keep_capabilities(1ull << CAP_BPF | 1ull << CAP_PERFMON);
		if (query_open(&query, 2) || load_attach(&query.load, &query.diags)) {
			query_show(&query);
			_exit(1);
		}
		query_calls(50);
		if (load_flip(&(struct load_state *){ query.load.states }, 1, 2 * SECOND_NS))
			_exit(2);
		_exit(counted(&query) == 100 ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A few of the tracepoints that hardly ever fire and have the two arguments that are read. */
static const char *const quiet_names[] = { "cgroup_mkdir", "cgroup_rmdir", "cgroup_release",
					   "cgroup_rename" };

#define N_MANY 200

struct many {
	struct query query;
	struct hook hooks[N_MANY];
	struct load_program programs[N_MANY];
	struct left left;
};

static void many_open(struct many *many, u32 n)
{
	struct query *query = &many->query;

	query_init(query, ACCESS_RAW);
	query_compile(query, 0);
	for (u32 i = 0; i < n; i++) {
		many->hooks[i] =
			(struct hook){ .path = ACCESS_RAW,
				       .target = quiet_names[i % ARRAY_SIZE(quiet_names)] };
		many->programs[i] = query->programs[0];
	}
	query->set.hooks = many->hooks;
	query->set.n_hooks = n;
	load_raise_limits(&query->set);
	if (load_open(&query->load, &query->set, many->programs, NULL, 0, &query->arena,
		      &query->diags) ||
	    load_attach(&query->load, &query->diags)) {
		query_show(query);
		fail_msg("not opened or not attached");
	}
	left_note(&query->load, &many->left);
}

/* Two hundred hooks, with a limit of open files that has to be raised for them. */
static void test_many_hooks(void **state)
{
	struct rlimit before, low;
	struct many *many;
	u64 start_ns;

	NEEDS_ROOT;
	many = calloc(1, sizeof(*many));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = (struct rlimit){ .rlim_cur = 64, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	many_open(many, N_MANY);
	start_ns = base_monotonic_ns();
	load_close(&many->query.load);
	print_message("%u raw hooks: loaded in %.1f ms, attached in %.1f ms, closed in %.1f ms\n",
		      N_MANY, many->query.load.verify_ns / 1e6, many->query.load.attach_ns / 1e6,
		      (base_monotonic_ns() - start_ns) / 1e6);
	assert_int_equal(left_count(&many->left, 20 * SECOND_NS), 0);
	setrlimit(RLIMIT_NOFILE, &before);
	query_free(&many->query);
	free(many);
}

/* SIGKILL in mid-run: soon neither program nor map is left. */
static void killed(enum access_path path)
{
	struct left *left;
	pid_t pid;
	u64 start_ns;
	int status;

	NEEDS_ROOT;
	left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(left != MAP_FAILED);
	pid = fork();
	if (!pid) {
		struct query query;

		query_init(&query, path);
		query_compile(&query, 0);
		query_compile(&query, 1);
		if (query_open(&query, 2) || load_attach(&query.load, &query.diags))
			_exit(1);
		left_note(&query.load, left);
		raise(SIGSTOP);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(left_count(left, 0), 2 + 2);
	start_ns = base_monotonic_ns();
	kill(pid, SIGKILL);
	assert_int_equal(left_count(left, 20 * SECOND_NS), 0);
	print_message("gone %.1f ms after SIGKILL\n", (base_monotonic_ns() - start_ns) / 1e6);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	munmap(left, sizeof(*left));
}

static void test_killed_raw(void **state)
{
	killed(ACCESS_RAW);
}

static void test_killed_tracepoint(void **state)
{
	killed(ACCESS_TRACEPOINT);
}

/* One program for one pattern, unless it means other functions by now. */
static void test_same_functions(void **state)
{
	const char *two[] = { "a_1", "a_2" }, *three[] = { "a_1", "a_2", "a_3" },
		   *others[] = { "a_1", "a_3" };
	struct hook a = { .path = ACCESS_KPROBE, .target = "a_*", .names = two, .n_places = 2 };
	struct hook b = a, c = a, d = a, e = a, single = { .path = ACCESS_KPROBE, .target = "a_*" };

	b.target = "a*";
	c.names = three;
	c.n_places = 3;
	d.names = others;
	e.is_exit = true;
	assert_true(hook_is_same(&a, &a) && hook_is_same(&a, &b));
	assert_false(hook_is_same(&a, &c) || hook_is_same(&a, &d) || hook_is_same(&d, &a) ||
		     hook_is_same(&a, &e) || hook_is_same(&a, &single) ||
		     hook_is_same(&single, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_same_functions),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_raw_syscall),
		cmocka_unit_test(test_tracepoint),
		cmocka_unit_test(test_typed_raw_syscall),
		cmocka_unit_test(test_survey),
		cmocka_unit_test(test_all_maps),
		cmocka_unit_test(test_debug_info),
		cmocka_unit_test(test_too_large_for_several),
		cmocka_unit_test(test_no_more_maps_than_needed),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_verifier),
		cmocka_unit_test(test_verifier_control_flow),
		cmocka_unit_test(test_map_too_large),
		cmocka_unit_test(test_attach_fails_raw),
		cmocka_unit_test(test_attach_fails_tracepoint),
		cmocka_unit_test(test_attach_fails_changed),
		cmocka_unit_test(test_no_privilege),
		cmocka_unit_test(test_least_privilege),
		cmocka_unit_test(test_many_hooks),
		cmocka_unit_test(test_killed_raw),
		cmocka_unit_test(test_killed_tracepoint),
		/* Where there are probes of functions: */
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_all_left_out),
		/* And links of many. */
		cmocka_unit_test(test_left_out_multi),
	};
	struct kernel_features features;
	size_t n = ARRAY_SIZE(tests);

	kernel_features_probe(&features);
	if (access("/sys/bus/event_source/devices/kprobe", F_OK))
		n -= 3;
	else if (geteuid() || !features.has_kprobe_multi())
		n--;
	return _cmocka_run_group_tests("load", tests, n, NULL, NULL);
}
