/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stack frame of a program: what is spilled, which objects share bytes, and where
 * 512 bytes end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/ir.h"

struct fixture {
	struct arena arena;
	struct ir *ir;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	arena_init(&f->arena);
	f->ir = ir_new(&f->arena);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(&f->arena);
	free(f);
	return 0;
}

/* n values alive at once, all across a call when has_call. */
static int compile_pressure(struct fixture *f, u32 n, bool has_call, struct bpf_code *ret_code,
			    const char **ret_reason)
{
	struct bpf_features features = { .has_signed_division = true };
	struct ir *ir = f->ir = ir_new(&f->arena);
	vreg base = ir_reg(ir), *v = arena_array(&f->arena, vreg, n);

	ir_map_value(ir, base, 0, 0);
	for (u32 i = 0; i < n; i++) {
		v[i] = ir_reg(ir);
		ir_load(ir, v[i], base, (s32)(8 * i), IR_U64);
	}
	if (has_call)
		ir_call(ir, 0, BPF_FUNC_ktime_get_ns, 0, NULL);
	for (u32 i = 0; i < n; i++)
		ir_store(ir, base, (s32)(8 * i), IR_U64, v[n - 1 - i]);
	ir_exit(ir, 0);
	return bpf_compile(ir, &f->arena, &features, ret_code, ret_reason);
}

static void spills_only_when_needed(void **state)
{
	struct fixture *f = *state;
	struct bpf_code code;
	const char *reason;

	assert_int_equal(compile_pressure(f, 9, false, &code, &reason), 0);
	assert_int_equal(code.n_spills, 0);
	/* Across a call: the base and three values have r6..r9. */
	assert_int_equal(compile_pressure(f, 3, true, &code, &reason), 0);
	assert_int_equal(code.n_spills, 0);
	assert_int_equal(compile_pressure(f, 4, true, &code, &reason), 0);
	assert_int_equal(code.n_spills, 1);
	assert_int_equal(code.stack_bytes, 8);
}

/* a is in use around b, or by itself where that is 0. */
static void object_used(struct ir *ir, stack_object a, stack_object b)
{
	vreg v = ir_reg(ir), map = ir_reg(ir);

	ir_stack_storei(ir, a, 0, IR_U64, 1);
	if (b)
		ir_stack_storei(ir, b, 0, IR_U64, 1);
	ir_map_value(ir, map, 0, 0);
	ir_stack_load(ir, v, b ? b : a, 0, IR_U64);
	ir_store(ir, map, 0, IR_U64, v);
	ir_stack_load(ir, v, a, 0, IR_U64);
	ir_store(ir, map, 8, IR_U64, v);
}

static void stack_shared(void **state)
{
	struct fixture *f = *state;
	struct bpf_features features = { 0 };
	struct bpf_code code;
	const char *reason;
	struct ir *ir;
	stack_object long_one;
	vreg address, i;
	label top;

	/* One behind the other: the largest of them, and one around all. */
	ir = f->ir = ir_new(&f->arena);
	long_one = ir_stack(ir, 8);
	ir_stack_storei(ir, long_one, 0, IR_U64, 1);
	for (u32 k = 0; k < 20; k++)
		object_used(ir, ir_stack(ir, 40 + 8 * (k % 3)), 0);
	object_used(ir, long_one, 0);
	ir_exit(ir, 0);
	assert_int_equal(bpf_compile(ir, &f->arena, &features, &code, &reason), 0);
	assert_int_equal(code.stack_bytes, 8 + 56);

	/* An address keeps its object. */
	ir = f->ir = ir_new(&f->arena);
	long_one = ir_stack(ir, 16);
	address = ir_reg(ir);
	ir_stack_storei(ir, long_one, 0, IR_U64, 1);
	ir_stack_address(ir, address, long_one, 0);
	object_used(ir, ir_stack(ir, 24), 0);
	ir_store(ir, address, 0, IR_U64, address);
	ir_exit(ir, 0);
	assert_int_equal(bpf_compile(ir, &f->arena, &features, &code, &reason), 0);
	assert_int_equal(code.stack_bytes, 16 + 24);

	/* And so does a loop that reads it and comes again. */
	ir = f->ir = ir_new(&f->arena);
	long_one = ir_stack(ir, 16);
	i = ir_reg(ir);
	top = ir_label(ir);
	ir_stack_storei(ir, long_one, 0, IR_U64, 1);
	ir_imm(ir, i, 0);
	ir_place(ir, top);
	object_used(ir, long_one, 0);
	object_used(ir, ir_stack(ir, 24), 0);
	ir_alui(ir, IR_ADD, i, i, 1);
	ir_branchi(ir, IR_LT, i, 3, top);
	ir_exit(ir, 0);
	assert_int_equal(bpf_compile(ir, &f->arena, &features, &code, &reason), 0);
	assert_int_equal(code.stack_bytes, 16 + 24);
}

static void stack_limit(void **state)
{
	struct fixture *f = *state;
	struct bpf_features features = { 0 };
	struct bpf_code code;
	const char *reason;
	stack_object large;

	assert_int_equal(compile_pressure(f, 67, true, &code, &reason), 0);
	assert_int_equal(code.stack_bytes, 512);
	assert_int_equal(compile_pressure(f, 68, true, &code, &reason), -E2BIG);
	assert_non_null(strstr(reason, "520 bytes of stack"));
	assert_int_equal(compile_pressure(f, 500, true, &code, &reason), -E2BIG);
	f->ir = ir_new(&f->arena);
	ir_stack(f->ir, 512);
	ir_exit(f->ir, 0);
	assert_int_equal(bpf_compile(f->ir, &f->arena, &features, &code, &reason), 0);
	f->ir = ir_new(&f->arena);
	large = ir_stack(f->ir, 500);
	object_used(f->ir, large, ir_stack(f->ir, 9));
	ir_exit(f->ir, 0);
	assert_int_equal(bpf_compile(f->ir, &f->arena, &features, &code, &reason), -E2BIG);
	assert_non_null(strstr(reason, "520 bytes of stack"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(spills_only_when_needed),
		TEST(stack_limit),
		TEST(stack_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
