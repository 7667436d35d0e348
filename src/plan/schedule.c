/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A schedule (hours of days, in local time) -> is it open at an instant, and when does that change?
 */
#include <string.h>
#include <strings.h>
#include <time.h>

#include "plan/plan.h"

#define DAY_S 86400

/* --- Texts --- */

/* "09:05", "9:05:30", "24:00" */
bool schedule_clock(const char *text, s32 *ret_s)
{
	u32 parts[3] = { 0 }, n = 0, digits = 0;

	for (; *text && n < 3; text++) {
		if (*text >= '0' && *text <= '9' && digits < 2) {
			parts[n] = parts[n] * 10 + (u32)(*text - '0');
			digits++;
		} else if (*text == ':' && digits) {
			n++;
			digits = 0;
		} else {
			return false;
		}
	}
	*ret_s = (s32)(parts[0] * 3600 + parts[1] * 60 + parts[2]);
	return n && n < 3 && digits == 2 && parts[1] < 60 && parts[2] < 60 && *ret_s <= DAY_S;
}

/* One of 0 to 6; 7: no day.  *text goes behind it. */
static u32 take_day(const char **text)
{
	static const char names[] = "sunmontuewedthufrisat";
	u32 day = 0;

	*text += strspn(*text, " ");
	while (day < 7 && strncasecmp(*text, names + 3 * day, 3) != 0)
		day++;
	if (day < 7)
		*text += 3;
	*text += strspn(*text, " ");
	return day;
}

/* "mon-fri", "sat,sun", "fri-mon" */
bool schedule_days(const char *text, u32 *ret_days)
{
	*ret_days = 0;
	do {
		u32 first = take_day(&text), last = first;

		if (*text == '-') {
			text++;
			last = take_day(&text);
		}
		if (first > 6 || last > 6)
			return false;
		for (u32 day = first;; day = (day + 1) % 7) {
			*ret_days |= 1u << day;
			if (day == last)
				break;
		}
	} while (*text++ == ',');
	return text[-1] == '\0';
}

/* --- Instants --- */

static s64 offset_at(time_t at)
{
	struct tm tm;

	return localtime_r(&at, &tm) ? tm.tm_gmtoff : 0;
}

/*
 * The instant of a local time, given as if that were UTC's: what comes twice is the first, what
 * never comes is when the clocks go over it.  They go over at most once in two days.
 */
static time_t instant_of(time_t local)
{
	time_t before = local - DAY_S, after = local + DAY_S, middle;
	s64 early = offset_at(before), late = offset_at(after);
	time_t first = local - MAX(early, late), second = local - MIN(early, late);

	if (offset_at(first) == MAX(early, late))
		return first;
	if (offset_at(second) == MIN(early, late))
		return second;
	while (after - before > 1) {
		middle = before + (after - before) / 2;
		if (offset_at(middle) == early)
			before = middle;
		else
			after = middle;
	}
	return after;
}

bool schedule_at(const struct schedule *s, time_t now, time_t *ret_change)
{
	u32 days = s->days ? s->days : 0x7f;
	s32 start = s->start_s >= 0 ? s->start_s : 0, stop = s->stop_s >= 0 ? s->stop_s : DAY_S;
	time_t today = now + offset_at(now), open_to = 0;
	bool is_open = false;

	today -= ((today % DAY_S) + DAY_S) % DAY_S;
	*ret_change = 0;
	/* From that of the night before on; eight days have any weekday's next one. */
	for (s32 i = -1; i <= 8; i++) {
		time_t day = today + i * DAY_S;
		time_t from, to;

		/* 1 January 1970 was a Thursday. */
		if (!(days >> (((day / DAY_S + 4) % 7 + 7) % 7) & 1))
			continue;
		from = instant_of(day + start);
		to = instant_of(day + stop + (stop <= start ? DAY_S : 0));
		if (to <= now || from >= to)
			continue;
		if (from <= now || (is_open && from <= open_to)) {
			is_open = true;
			open_to = MAX(open_to, to);
		} else {
			*ret_change = is_open ? open_to : from;
			return is_open;
		}
	}
	/* It goes on for as long as that: always. */
	*ret_change = open_to - now > 7 * DAY_S ? 0 : open_to;
	return is_open;
}
