/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Schedules over the edges of days, weeks and summer time, against a clock that is gone through
 * minute by minute.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "plan/plan.h"

static struct schedule schedule(const char *start, const char *stop, const char *days)
{
	struct schedule s = { .start_s = -1, .stop_s = -1 };

	assert_true(!start || schedule_clock(start, &s.start_s));
	assert_true(!stop || schedule_clock(stop, &s.stop_s));
	assert_true(!days || schedule_days(days, &s.days));
	return s;
}

static void zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

/* Rules of the zone itself, so that no file of zones is needed. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

/* "2026-03-29 02:30:00" in UTC */
static time_t utc(const char *text)
{
	struct tm tm = { 0 };

	assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
	return timegm(&tm);
}

static void expect(const struct schedule *s, const char *now, bool is_open, const char *change)
{
	char text[32] = "never";
	time_t at;
	struct tm tm;

	assert_int_equal(schedule_at(s, utc(now), &at), is_open);
	if (at)
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", gmtime_r(&at, &tm));
	assert_string_equal(text, change);
}

static void test_texts(void **state)
{
	static const char *const wrong_clocks[] = { "",		  "9",	     "09",    "0905",
						    "9:5",	  "24:01",   "25:00", "09:60",
						    "9:05:",	  "9:05:60", "-9:05", "09:05pm",
						    "1:00:00:00", "009:05" };
	static const char *const wrong_days[] = { "",	     "mo",	"mon-", "mon,",
						  "mon-xyz", "mon tue", "-fri", "mon--fri" };
	struct schedule s;
	u32 days;
	s32 at;

	s = schedule("9:05", "24:00", "Fri-mon");
	assert_int_equal(s.start_s, 9 * 3600 + 300);
	assert_int_equal(s.stop_s, 86400);
	assert_int_equal(s.days, 1 << 5 | 1 << 6 | 1 << 0 | 1 << 1);
	assert_int_equal(schedule("23:59:59", NULL, NULL).start_s, 86399);
	assert_int_equal(schedule(NULL, NULL, "sun, tue - thu").days, 1 | 1 << 2 | 1 << 3 | 1 << 4);
	for (u32 i = 0; i < ARRAY_SIZE(wrong_clocks); i++)
		assert_false(schedule_clock(wrong_clocks[i], &at));
	for (u32 i = 0; i < ARRAY_SIZE(wrong_days); i++)
		assert_false(schedule_days(wrong_days[i], &days));
}

static void test_days(void **state)
{
	struct schedule s = schedule("09:05", "09:25", "mon-fri");

	/* 2026-11-20 is a Friday; Berlin's winter is an hour ahead of UTC. */
	zone(BERLIN);
	expect(&s, "2026-11-20 08:04:59", false, "2026-11-20 08:05:00");
	expect(&s, "2026-11-20 08:05:00", true, "2026-11-20 08:25:00");
	expect(&s, "2026-11-20 08:24:59", true, "2026-11-20 08:25:00");
	expect(&s, "2026-11-20 08:25:00", false, "2026-11-23 08:05:00");
	expect(&s, "2026-11-22 23:30:00", false, "2026-11-23 08:05:00");
	/* Over midnight, of the last day too; and a day alone. */
	s = schedule("22:00", "02:00", "fri");
	expect(&s, "2026-11-20 20:59:59", false, "2026-11-20 21:00:00");
	expect(&s, "2026-11-21 00:59:59", true, "2026-11-21 01:00:00");
	expect(&s, "2026-11-21 01:00:00", false, "2026-11-27 21:00:00");
	s = schedule(NULL, NULL, "sat,sun");
	expect(&s, "2026-11-20 22:59:59", false, "2026-11-20 23:00:00");
	expect(&s, "2026-11-21 10:00:00", true, "2026-11-22 23:00:00");
	s = schedule(NULL, NULL, "mon-sun");
	expect(&s, "2026-11-21 10:00:00", true, "never");
	/* It stops at the very instant that it starts. */
	s = schedule("06:00", "06:00", NULL);
	expect(&s, "2026-11-21 10:00:00", true, "never");
	s = schedule("22:00", "24:00", NULL);
	expect(&s, "2026-11-21 21:00:00", true, "2026-11-21 23:00:00");
	zone("UTC0");
	s = schedule("00:00", "00:10", "thu");
	expect(&s, "1970-01-01 00:00:00", true, "1970-01-01 00:10:00");
}

/* Clocks go from 2:00 to 3:00 on 29 March, and from 3:00 back to 2:00 on 25 October 2026. */
static void test_summer(void **state)
{
	struct schedule s = schedule("02:30", "03:30", NULL);

	zone(BERLIN);
	expect(&s, "2026-03-28 22:00:00", false, "2026-03-29 01:00:00");
	expect(&s, "2026-03-29 01:00:00", true, "2026-03-29 01:30:00");
	expect(&s, "2026-03-29 22:00:00", false, "2026-03-30 00:30:00");
	s = schedule("02:10", "02:50", NULL);
	expect(&s, "2026-03-28 22:00:00", false, "2026-03-30 00:10:00");
	/* 2:30 comes twice. */
	expect(&s, "2026-10-24 22:00:00", false, "2026-10-25 00:10:00");
	expect(&s, "2026-10-25 00:49:59", true, "2026-10-25 00:50:00");
	expect(&s, "2026-10-25 01:20:00", false, "2026-10-26 01:10:00");
	s = schedule("01:00", "04:00", NULL);
	expect(&s, "2026-10-25 00:30:00", true, "2026-10-25 03:00:00");
	/* In the south, by half an hour. */
	zone("LHST-10:30LHDT-11,M10.1.0,M4.1.0");
	s = schedule("02:10", "02:40", NULL);
	expect(&s, "2026-10-03 12:00:00", false, "2026-10-03 15:30:00");
	expect(&s, "2026-10-03 15:30:00", true, "2026-10-03 15:40:00");
}

/* What it says of each minute of half a year is what it said in the minute before. */
static void test_steps(void **state)
{
	static const char *const words[][3] = { { "01:45", "02:15", NULL },
						{ "22:30", "02:30", "sat-mon" },
						{ "02:59", "02:01", "wed" },
						{ "00:00", "24:00", "sun" } };

	zone(BERLIN);
	for (u32 i = 0; i < ARRAY_SIZE(words); i++) {
		struct schedule s = schedule(words[i][0], words[i][1], words[i][2]);
		time_t end = utc("2026-12-01 00:00:00"), change, next;
		time_t now = utc("2026-03-01 00:00:00");
		bool is_open = schedule_at(&s, now, &change);
		u32 n_changes = 0;

		for (; now < end; now += 60) {
			if (now >= change) {
				is_open = !is_open;
				n_changes++;
				assert_int_equal(now - now % 60, change);
				assert_true(schedule_at(&s, change - 1, &next) != is_open);
				assert_int_equal(next, change);
				schedule_at(&s, now, &change);
			}
			assert_true(schedule_at(&s, now, &next) == is_open);
			assert_int_equal(next, change);
		}
		assert_true(n_changes > 70);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_summer),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
