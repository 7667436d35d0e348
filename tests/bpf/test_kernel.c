/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What only the kernel can confirm: it takes the debug information and shows
 * the query in its log, its disassembly and ours are the same text, and pointers
 * and checked numbers keep their meaning through spills.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel.h"

static struct kernel kernel;

static const char query[] = "SELECT count(*) AS n,\n  max(size)\nFROM syscalls:sys_enter_read\n";

static void compile(struct ir *ir, struct arena *arena, struct bpf_code *ret_code)
{
	struct bpf_features features = { .has_signed_division = kernel.has_signed_division };
	const char *reason = NULL;

	if (bpf_compile(ir, arena, &features, ret_code, &reason))
		fail_msg("%s", reason);
}

static void skip_without_privilege(void)
{
	const char *reason = kernel_open(&kernel);

	if (!reason)
		return;
	print_message("SKIP: %s\n", reason);
	skip();
}

static void debug_info_is_accepted(void **state)
{
	struct bpf_debug_info info;
	struct bpf_code code;
	struct arena arena;
	struct ir *ir;
	vreg v, p;
	s32 value;
	int fd;

	skip_without_privilege();
	arena_init(&arena);
	ir = ir_new(&arena);
	v = ir_reg(ir);
	p = ir_reg(ir);
	ir_load(ir, v, ir_context(ir), 8, IR_U64); /* belongs to no place */
	ir_at(ir, (struct span){ 24, 33 });
	ir_map_value(ir, p, ENV_MAP_DATA, 0);
	ir_store(ir, p, 0, IR_U64, v);
	ir_at(ir, (struct span){ 7, 15 });
	ir_exit(ir, 5);
	compile(ir, &arena, &code);
	bpf_debug_info_build(&code, "query_1", query, &arena, &info);
	fd = kernel_load(&kernel, &arena, &code, &info, 2);
	if (fd < 0)
		fail_msg("error %d: %s", fd, kernel.log);
	/* The log shows each new line of the query, without its indent, before its instructions. */
	assert_non_null(strstr(kernel.log, "; SELECT count(*) AS n,"));
	assert_non_null(strstr(kernel.log, "; max(size)"));
	/* 6.1 shows the text only, 6.12 the place as well. */
	if (strstr(kernel.log, " @ ")) {
		assert_non_null(strstr(kernel.log, "; SELECT count(*) AS n, @ query:1"));
		assert_non_null(strstr(kernel.log, "; max(size) @ query:2"));
	}
	kernel.env.ctx[1] = 77;
	assert_int_equal(kernel_run(&kernel, fd, &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(*(u64 *)(void *)kernel.env.data, 77);
	close(fd);
	/* Without a text, and with one of many lines and far columns. */
	bpf_debug_info_build(&code, "q", NULL, &arena, &info);
	fd = kernel_load(&kernel, &arena, &code, &info, 0);
	assert_true(fd >= 0);
	close(fd);
	{
		char *text = arena_alloc(&arena, 100001);

		for (u32 i = 0; i < 100000; i++)
			text[i] = i % 5000 == 4999 ? '\n' : 'x';
		code.spans[1] = (struct span){ 54321, 54322 };
		bpf_debug_info_build(&code, "q", text, &arena, &info);
		assert_int_equal(info.lines[1].line_col >> 10, 11);
		assert_int_equal(info.lines[1].line_col & 1023, 1023);
		fd = kernel_load(&kernel, &arena, &code, &info, 0);
		assert_true(fd >= 0);
		close(fd);
	}
	arena_free(&arena);
	kernel_close(&kernel);
}

/* Line "N: (op) text ..." of the verifier's log? Returns where "(op)" starts. */
static const char *log_insn(const char *line, u32 *ret_insn)
{
	char *end;
	unsigned long n = strtoul(line, &end, 10);

	if (end == line || end[0] != ':' || end[1] != ' ' || end[2] != '(')
		return NULL;
	*ret_insn = (u32)n;
	return end + 2;
}

/* Each instruction that the log shows must read as ours; returns how many were compared. */
static u32 compare_with_log(const struct bpf_code *code, char *log)
{
	struct buf ours;
	char **lines = calloc(code->n_insns, sizeof(*lines)), *line, *saved;
	u32 n = 0;

	buf_init(&ours);
	bpf_disassemble(code, NULL, &ours);
	for (line = strtok_r(ours.at, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		lines[strtoul(line, NULL, 10)] = strchr(line, '(');
	for (line = strtok_r(log, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		u32 insn = 0;
		const char *theirs = log_insn(line, &insn);
		size_t length;

		/* Map addresses are the kernel's secret; kfuncs have names there. */
		if (!theirs || strncmp(theirs, "(18)", 4) == 0)
			continue;
		assert_true(insn < code->n_insns && lines[insn]);
		length = strlen(lines[insn]);
		if (strncmp(theirs, lines[insn], length) ||
		    (theirs[length] != '\0' && theirs[length] != ' '))
			fail_msg("kernel: %s\nours:   %s", theirs, lines[insn]);
		n++;
	}
	free(lines);
	buf_free(&ours);
	return n;
}

static void disassembly_is_the_kernels(void **state)
{
	u32 n_compared = 0;

	skip_without_privilege();
	for (u64 seed = 1; seed <= 60; seed++) {
		struct source source = { .state = seed };
		struct random_options options = { .n_statements = 60 };
		struct bpf_code code;
		struct arena arena;
		struct ir *ir;
		int fd;

		arena_init(&arena);
		ir = ir_new(&arena);
		random_ir(ir, &source, &options);
		compile(ir, &arena, &code);
		fd = kernel_load(&kernel, &arena, &code, NULL, 2);
		if (fd >= 0)
			close(fd);
		/* -ENOSPC: the log was longer than the buffer; the first part is there. */
		assert_true(fd >= 0 || fd == -ENOSPC);
		n_compared += compare_with_log(&code, kernel.log);
		arena_free(&arena);
	}
	print_message("%u lines compared\n", n_compared);
	assert_true(n_compared > 2000);
	kernel_close(&kernel);
}

/* A map value's pointer, checked for NULL, and a bounded index, both spilled across a call. */
static void spilled_pointers_stay_pointers(void **state)
{
	vreg args[2], row, index, base, values[12], t;
	struct bpf_code code;
	struct arena arena;
	stack_object key;
	struct ir *ir;
	label end;
	s32 value;
	int fd;

	skip_without_privilege();
	arena_init(&arena);
	ir = ir_new(&arena);
	row = ir_reg(ir);
	index = ir_reg(ir);
	base = ir_reg(ir);
	t = ir_reg(ir);
	args[0] = ir_reg(ir);
	args[1] = ir_reg(ir);
	key = ir_stack(ir, 4);
	end = ir_label(ir);
	ir_stack_storei(ir, key, 0, IR_U32, 1);
	ir_load(ir, index, ir_context(ir), 0, IR_U64);
	ir_map(ir, args[0], ENV_MAP_ROWS);
	ir_stack_address(ir, args[1], key, 0);
	ir_call(ir, row, BPF_FUNC_map_lookup_elem, 2, args);
	ir_branchi(ir, IR_EQ, row, 0, end);
	ir_branchi(ir, IR_GT, index, 64, end);
	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		values[i] = ir_reg(ir);
		ir_load(ir, values[i], ir_context(ir), (s32)(8 * i), IR_U64);
	}
	ir_call(ir, 0, BPF_FUNC_ktime_get_ns, 0, NULL);
	ir_map_value(ir, base, ENV_MAP_DATA, 0);
	for (u32 round = 0; round < 3; round++)
		for (u32 i = 0; i < ARRAY_SIZE(values); i++)
			ir_store(ir, base, (s32)(ENV_OUT + 8 * i), IR_U64, values[i]);
	ir_alu(ir, IR_ADD, t, base, index);
	ir_storei(ir, t, 0, IR_U8, 42);
	ir_store(ir, row, 8, IR_U64, index);
	ir_place(ir, end);
	ir_exit(ir, 0);
	compile(ir, &arena, &code);
	assert_true(code.n_spills >= 8);
	fd = kernel_load(&kernel, &arena, &code, NULL, 1);
	if (fd < 0)
		fail_msg("error %d: %s", fd, kernel.log);
	for (u32 i = 0; i < ENV_CTX_WORDS; i++)
		kernel.env.ctx[i] = 33 + i;
	assert_int_equal(kernel_run(&kernel, fd, &value), 0);
	assert_int_equal(kernel.env.data[33], 42);
	assert_int_equal(kernel.env.rows[ENV_ROW_BYTES + 8], 33);
	for (u32 i = 0; i < ARRAY_SIZE(values); i++)
		assert_int_equal(((u64 *)(void *)(kernel.env.data + ENV_OUT))[i], 33 + i);
	close(fd);
	arena_free(&arena);
	kernel_close(&kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_info_is_accepted),
		cmocka_unit_test(disassembly_is_the_kernels),
		cmocka_unit_test(spilled_pointers_stay_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
