/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Samples: how they are written, and that one event has one name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "look.h"

static const struct {
	const char *written, *name;
	u32 type;
	u64 config, period;
	bool is_of_one_cpu;
} there[] = {
	{ "profile:99", "profile:99", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10101010 },
	{ "p:100000", "profile:100000", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000 },
	{ "interval:1s", "interval:1s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000000,
	  true },
	{ "i:1500ms", "interval:1500ms", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1500000000,
	  true },
	{ "interval:60000ms", "interval:1m", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
	  60000000000, true },
	{ "interval:10us", "interval:10us", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000,
	  true },
	{ "software:page-faults:1", "software:page-faults:1", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_PAGE_FAULTS, 1 },
	{ "s:faults", "software:page-faults:100", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
	  100 },
	{ "software:cs:7", "software:context-switches:7", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES, 7 },
	{ "software:cpu-clock", "software:cpu-clock:1000000", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CPU_CLOCK, 1000000 },
	{ "hardware:cycles", "hardware:cpu-cycles:1000000", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CPU_CYCLES, 1000000 },
	{ "h:cache-misses:5000", "hardware:cache-misses:5000", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_MISSES, 5000 },
};

static void test_names(void **state)
{
	struct session session;

	session_open(&session, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(there); i++) {
		struct stream_list *found = find(&session, there[i].written);
		const struct stream *s;

		assert_non_null(found);
		assert_int_equal(found->streams.n, 1);
		s = found->streams.at[0];
		assert_string_equal(s->name, there[i].name);
		assert_int_equal(s->sample->type, there[i].type);
		assert_int_equal(s->sample->config, there[i].config);
		assert_int_equal(s->sample->period, there[i].period);
		assert_int_equal(s->sample->is_of_one_cpu, there[i].is_of_one_cpu);
	}
	session_close(&session);
}

static const struct {
	const char *written, *hint;
} not_there[] = {
	{ "profile:0", "a rate in Hz" },
	{ "profile:99hz", "a rate in Hz" },
	{ "profile:-1", "a rate in Hz" },
	{ "profile:100001", "a rate in Hz" },
	{ "interval:5", "a time of 10us and more" },
	{ "interval:9us", "a time of 10us and more" },
	{ "interval:9999999999999m", "a time of 10us and more" },
	{ "software:page-fault", "\"software:page-faults\"" },
	{ "software:pagefaults:1", "\"software:page-faults\"" },
	{ "software:page-faults:0", "a PERIOD of 1 and more" },
	{ "software:faults:1s", "a PERIOD of 1 and more" },
	{ "hardware:cyclez:1", "\"hardware:cycles\"" },
	{ "profile:99:1", "write profile:HZ" },
	{ "profile:*", "no name matches" },
};

static void test_messages(void **state)
{
	struct session session;

	session_open(&session, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(not_there); i++)
		expect_error(&session, not_there[i].written, "unknown-stream", not_there[i].hint);
	session_close(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
