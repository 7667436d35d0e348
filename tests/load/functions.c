/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <string.h>

#include "query.h"
#include "sys/sys.h"

/* Functions that the kernel does not take are left out, by one link and one after the other. */
static void left_out(enum access_path path, const char *first)
{
	const char *names[] = { first,
				"no_such_function_1",
				"vfs_fsync",
				"no_such_function_2",
				"no_such_function_3",
				"vfs_statfs" };
	u64 known = 0, cookies[ARRAY_SIZE(names)] = { 0 }, addresses[ARRAY_SIZE(names)];
	struct {
		u32 type, id, prog_id, unused;
		u64 addresses;
		u32 n, flags;
		u64 missed, cookies;
	} info = { .addresses = sys_pointer(addresses),
		   .n = ARRAY_SIZE(names),
		   .cookies = sys_pointer(cookies) };
	u32 info_bytes = sizeof(info);
	struct query query;
	struct ir *ir;

	query_init(&query, path);
	query.hook[0].target = "vfs_*";
	query.hook[0].names = names;
	query.hook[0].n_places = query.hook[0].n_names = ARRAY_SIZE(names);
	ir = ir_new(&query.arena);
	ir_exit(ir, 0);
	query_compile_ir(&query, 0, ir);
	query_open_ok(&query, 1);
	query_attach_ok(&query);
	for (u32 i = 0; i < ARRAY_SIZE(names); i++)
		known += strncmp(names[i], "vfs_", 4) == 0;
	assert_int_equal(query.programs[0].n_left_out, ARRAY_SIZE(names) - known);
	assert_string_equal(query.diags.list.at[0].tag, "left-out");
	query_contains(query.diags.list.at[0].message, known == 2
							       ? "4 of the 6 functions of vfs_*"
							       : "3 of the 6 functions of vfs_*");
	if (path == ACCESS_KPROBE) {
		assert_int_equal(query.programs[0].first_place, known == 2 ? 2 : 0);
		assert_int_equal(query.programs[0].n_events, known - 1);
	} else {
		assert_int_equal(
			bpf_obj_get_info_by_fd(query.programs[0].link_fd, &info, &info_bytes), 0);
		assert_int_equal(info.n, known);
		for (u32 i = 0, all = 0; i < ARRAY_SIZE(names); i++) {
			for (u32 k = 0; k < known; k++)
				all += cookies[k] == i;
			assert_int_equal(all, strncmp(names[i], "vfs_", 4) == 0);
			all = 0;
		}
	}
	load_close(&query.load);
	query_free(&query);
}

void test_left_out_multi(void **state)
{
	left_out(ACCESS_KPROBE_MULTI, "no_such_function_0");
	left_out(ACCESS_KPROBE_MULTI, "vfs_open");
}

void test_left_out(void **state)
{
	left_out(ACCESS_KPROBE, "no_such_function_0");
	left_out(ACCESS_KPROBE, "vfs_open");
}

/* All of them: it fails. */
void test_all_left_out(void **state)
{
	const char *names[] = { "no_such_function_1", "no_such_function_2" };
	struct kernel_features features;
	struct query query;
	struct ir *ir;

	kernel_features_probe(&features);
	query_init(&query, features.has_kprobe_multi() ? ACCESS_KPROBE_MULTI : ACCESS_KPROBE);
	query.hook[0].target = "no_such_*";
	query.hook[0].names = names;
	query.hook[0].n_places = query.hook[0].n_names = ARRAY_SIZE(names);
	ir = ir_new(&query.arena);
	ir_exit(ir, 0);
	query_compile_ir(&query, 0, ir);
	query_open_ok(&query, 1);
	assert_true(load_attach(&query.load, &query.diags) < 0);
	query_contains(query_only_diag(&query, "attach-failed")->hint,
		       "refuses each of its places");
	load_close(&query.load);
	query_free(&query);
}
