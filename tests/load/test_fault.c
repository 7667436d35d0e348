/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is said of an EFAULT of the verifier, which no program of ours is known to cause: bpf(2) is
 * replaced (-Wl,--wrap).  And how many descriptors are asked for, of which a lack is a fault as
 * well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/sys.h"
#include "query.h"

/* As the verifier leaves it, with this for a log; NULL: the kernel's. */
static const char *verifier_says;
int __real_sys_prog_load(union bpf_attr *attr);
int __wrap_sys_prog_load(union bpf_attr *attr);

int __wrap_sys_prog_load(union bpf_attr *attr)
{
	if (!verifier_says)
		return __real_sys_prog_load(attr);
	snprintf((char *)(uintptr_t)attr->log_buf, attr->log_size, "%s", verifier_says);
	return -EFAULT;
}

/* EFAULT is what too many branches are, and other things, too. */
static void test_fault_of_verifier(void **state)
{
	static const struct {
		const char *says, *tag;
	} cases[] = {
		{ "The sequence of 8193 jumps is too complex.\nprocessed 24622 insns",
		  "too-much-to-verify" },
		{ "verifier bug: no idea\nprocessed 7 insns", "verifier" },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct query query;
		struct ir *ir;

		if (geteuid() != 0) {
			printf("SKIP: needs root to make maps\n");
			skip();
		}
		query_init(&query, ACCESS_RAW);
		ir = ir_new(&query.arena);
		ir_exit(ir, 0);
		query_compile_ir(&query, 0, ir);
		verifier_says = cases[i].says;
		assert_int_equal(query_open(&query, 1), -EFAULT);
		verifier_says = NULL;
		assert_int_equal(query.diags.list.n, 1);
		assert_string_equal(query.diags.list.at[0].tag, cases[i].tag);
		query_free(&query);
	}
}

/* Of samples, an event and its link on each CPU. */
static void test_limit_of_samples(void **state)
{
	struct hook hooks[50] = { 0 };
	const struct phys_set set = { .hooks = hooks, .n_hooks = ARRAY_SIZE(hooks) };
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){ .rlim_cur = 64, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (u32 i = 0; i < set.n_hooks; i++)
		hooks[i].path = ACCESS_SAMPLE;
	load_raise_limits(&set);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(limit.rlim_cur >= set.n_hooks * (1 + 2 * load_possible_cpus()) + 128);
	setrlimit(RLIMIT_NOFILE, &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fault_of_verifier),
					    cmocka_unit_test(test_limit_of_samples) };

	return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
