/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries written by hand that go through all ways as the random ones do: each operator in user
 * space, conditions above joins, unions and running sums, and what faults where.  Where all
 * faults are the query's own, their number must be the same in every way.
 */
#include <string.h>

#include "random.h"

#define ALL_B                                                                                      \
	"b.f_u8, b.f_s8, b.f_u16, b.f_s16, b.f_u32, b.f_s32, b.f_u64, b.f_s64, b.flag, b.name, "   \
	"b.path, b.dl, b.ptr, b.pid, b.tid, b.ppid, b.uid, b.gid, b.comm, b.cpu, b.cgroup, "       \
	"b.numa_node"
#define COLUMNS "f_u8, f_u16, f_s32, f_s64, flag, path, pid, time"
#define BOTH                                                                                       \
	"(SELECT " COLUMNS " FROM $O WHERE f_u16 < 40000 UNION ALL SELECT " COLUMNS                \
	" FROM $E WHERE flag)"
#define ON  " ON a.f_u8 = b.f_u8"
#define BIG "(f_u8 + 18446744073709551360)" /* not less than 2^63 */

#define ITEMS "SELECT a.time, a.f_u16, b.f_u16, b.f_s32, a.f_u8"
#define EVENT " FROM $E AS a "
#define OTHER " JOIN $O AS b ON "
#define KEYS  "a.f_u8 = b.f_u8 AND a.f_s8 = b.f_s8"
#define LATER " AND a.time >= b.time"
#define UNION_SIDE                                                                                 \
	" JOIN (SELECT f_u8, f_s8, f_u16, f_s32, time, 1 AS k FROM $O WHERE "                      \
	"f_u16 < 40000 UNION ALL SELECT f_u8, f_s8, f_u16, f_s32, time, 2 FROM "                   \
	"$E WHERE flag) AS b ON "
#define DIVIDED                                                                                    \
	" JOIN (SELECT f_u8, f_s8, f_u16, f_s32, time, 6 / f_u8 AS q FROM $O "                     \
	"UNION ALL SELECT f_u8, f_s8, f_u16, f_s32, time, 7 / f_s8 FROM $E "                       \
	"WHERE flag) AS b ON "
#define EITHER                                                                                     \
	"(SELECT f_u8, f_s8, f_u16, 1 AS k, time FROM $E WHERE f_s32 > 0 "                         \
	"UNION ALL SELECT f_u8, f_s8, f_u16 / 2, 2, time FROM $O UNION ALL "                       \
	"SELECT a.f_u8, b.f_s8, b.f_u16, 3, a.time" EVENT "ASOF" OTHER KEYS LATER ") AS u"
#define DEPTH                                                                                      \
	"(SELECT time, f_u8, f_u16, SUM(d) OVER (PARTITION BY f_u8, f_s8) AS depth, f_s8 FROM "    \
	"(SELECT time, f_u8, f_s8, f_u16, 1 AS d FROM $O UNION ALL SELECT "                        \
	"time, f_u8, f_s8, f_u16, -1 FROM $E) AS u) AS v"
#define DIVIDED_DEPTH                                                                              \
	"(SELECT time, f_u8, SUM(6 / f_s8) OVER (PARTITION BY f_u8) AS depth FROM "                \
	"$O) AS v"

static const struct {
	const char *ebql, *sqlite; /* sqlite NULL: it cannot */
	enum window_shape shape;
	u64 size, advance;
} queries[] = {
	/* One scan. */
	{ "SELECT time FROM $E" },
	{ "SELECT time, f_u8, f_s8, f_u16, f_s16, f_u32, f_s32, f_u64, f_s64, flag, name, "
	  "path, dl, ptr FROM $E" },
	{ "SELECT time, pid, tid, ppid, uid, gid, comm, cpu, cgroup, numa_node, probe FROM $E" },
	{ "SELECT time, 7, 'it''s', NULL, 9223372036854775807, -9223372036854775808 FROM $E" },
	{ "SELECT time, f_u8 FROM $E WHERE f_u16 < 30000" },
	{ "SELECT time, f_u8 FROM $E WHERE f_u16 < 30000 AND flag OR f_s32 < 0" },
	/* A name is a comparison of numbers. */
	{ "SELECT time, f_u8 FROM $E WHERE device_name(f_u8) = '0:2' OR tcp_state(f_u8) <> 'CLOSE' "
	  "AND softirq_name(f_s8) NOT IN ('TIMER', '77', 'HI')",
	  "SELECT time, f_u8 FROM ev WHERE f_u8 = 2 OR f_u8 <> 7 AND f_s8 NOT IN (1, 77, 0) ORDER BY 1" },
	{ "SELECT time, errno_name(f_s8), ntop(f_u8, f_u64), ntohs(f_u16), ntohl(f_s32) FROM $E "
	  "WHERE errno_name(f_s8) <> 'ENOENT' AND errno_name(f_u8) <> 'ENOENT'" },
	{ "SELECT errno_name(f_s8), ntop(f_u8, f_u16), count(*) FROM $E "
	  "WHERE NOT open_flags(f_u64 / f_s8) = 'O_RDWR' "
	  "GROUP BY errno_name(f_s8), ntop(f_u8, f_u16)" },
	{ "SELECT time, name FROM $E WHERE name LIKE '%1%' AND path NOT GLOB '*2*'" },
	{ "SELECT time, name FROM $E WHERE name IN ('a', 'ab', 'abc') OR comm > name" },
	{ "SELECT time, f_u8 FROM $E WHERE f_u8 IN (1, 2, 250) AND f_s8 NOT IN (0, 1)" },
	{ "SELECT time, f_u8 FROM $E WHERE f_u8 > 250 AND f_u8 < 2" },
	{ "SELECT time, probe, f_s64 FROM tracepoint:test:* WHERE probe LIKE '%other' OR "
	  "f_u8 > 1" },
	{ "SELECT time, f_u8 FROM $E WHERE probe = 'tracepoint:test:event'" },
	/* Arithmetic as the kernel does it: what does not fit is NULL. */
	{ "SELECT time, f_s64 + f_u64, f_s64 - f_u64, f_s64 * f_u8, f_u64 * f_u8, -f_s64, "
	  "~f_s64 FROM $E" },
	{ "SELECT time, f_u64 * 2, f_u64 * 2 + 1, f_u64 * 2 > f_s64, f_u64 * 2 - f_s64 FROM $E" },
	{ "SELECT time, f_s64 / f_s8, f_s64 % f_s8, f_u64 / f_u8, f_s64 / (f_s8 + 1) FROM $E" },
	/* A rule finds that a side is never negative: what 2^63 and more is beside it stays. */
	{ "SELECT time, CASE 4 WHEN 0 THEN -1 ELSE 3 END % " BIG " FROM $E" },
	{ "SELECT time, CASE 4 WHEN 0 THEN -1 ELSE 3 END + " BIG " FROM $E" },
	{ "SELECT time, CASE 4 WHEN 0 THEN -1 ELSE 3 END | " BIG " FROM $E" },
	{ "SELECT time FROM (SELECT f_s8 AS k, time FROM $E UNION ALL SELECT 1, time FROM $O) "
	  "WHERE k % 18446744073709551615" },
	{ "SELECT time, f_s64 & f_s32, f_s64 | f_u16, f_s64 << (f_u8 & 63), f_s64 >> (f_u8 & "
	  "63), f_u64 << 3, f_u64 >> f_s8, f_s32 << 40 FROM $E" },
	{ "SELECT time, (f_u64 * 2) << 1, (f_u64 * 2) >> 1, (f_u64 * 2) & 255, (f_u64 * 2) | "
	  "1 FROM $E" },
	{ "SELECT time, CASE WHEN f_u8 < 2 THEN f_s64 WHEN f_s8 < 0 THEN NULL ELSE f_u16 END "
	  "FROM $E" },
	{ "SELECT time, CASE WHEN flag THEN f_u64 * 2 ELSE f_s8 END FROM $E" },
	{ "SELECT time, abs(f_s64), min(f_s64, f_u8), max(f_s8, f_s16), iif(flag, f_u8, "
	  "NULL) FROM $E" },
	{ "SELECT time, f_u8 IS NULL, f_u8 / f_u16 IS NULL, f_u8 / f_u16 IS f_u8, NOT flag "
	  "FROM $E" },
	{ "SELECT time, f_u64 * 2 = f_u64 * 2, f_u64 * 2 IN (1, 2), f_u64 * 2 < "
	  "9223372036854775808 FROM $E" },
	{ "SELECT time, f_u8 BETWEEN 1 AND 3, name = comm, name < 'b', flag = 1 FROM $E" },
	/* An event that is below the cells of several histograms counts once. */
	{ "SELECT name, quantile_lo(f_s8, 0.5), p50(f_s32) FROM $E GROUP BY name ORDER BY name" },
	{ "SELECT quantile_lo(f_s8, 0.5), p50(f_s32), p50(f_s64) FROM $E GROUP BY name, cpu ORDER BY name, cpu" },
	{ "SELECT quantile_lo(f_s8, 0.5), p50(f_s32), p50(f_s64), histogram(f_s64) FROM $E" },
	{ "SELECT k, p50(n) AS p, p90(m) AS q FROM (SELECT cpu AS k, f_u8, sum(f_s8) AS n, "
	  "sum(f_s16) AS m FROM $E GROUP BY cpu, f_u8) GROUP BY k ORDER BY k" },
	{ "SELECT top_k(name, 2, f_s8), top_k(path, 3, f_s16), p50(f_s8) FROM $E" },
	/* Between two windows nothing counts; and what lies in several, in each. */
	{ "SELECT DISTINCT a.f_s32 % b.f_u8 FROM $E AS a PAIR JOIN $O AS b" ON
	  " WINDOW HOPPING 1ms BY 4ms",
	  NULL, SHAPE_HOPPING, 1000000, 4000000 },
	{ "SELECT DISTINCT 6 / f_u8 FROM $E WINDOW HOPPING 1ms BY 4ms", NULL, SHAPE_HOPPING,
	  1000000, 4000000 },
	{ "SELECT count(*), sum(6 / f_u8), p50(f_s8), p50(f_s16) FROM $E WINDOW HOPPING 3ms BY 2ms",
	  NULL, SHAPE_HOPPING, 3000000, 2000000 },
	/* An idle window has its row, and that its fault. */
	{ "SELECT n, 1 / n AS q FROM (SELECT count(*) AS n FROM $O WHERE f_u8 = 1) AS o WINDOW TUMBLING "
	  "1ms",
	  NULL, SHAPE_TUMBLING, 1000000, 1000000 },
	/* Beside a NULL nothing is too large. */
	{ "SELECT time, max(f_u64, 9223372036854775809) - nullif(-f_u8, -f_u8) FROM $E" },
	/* Unions. */
	{ "SELECT time, f_u8 FROM (SELECT time, f_u8 FROM $E UNION ALL SELECT time, f_u16 "
	  "FROM $O)" },
	{ "SELECT time, c, d FROM (SELECT time, name AS c, 1 AS d FROM $E WHERE f_u8 < 2 "
	  "UNION ALL SELECT time, NULL, -1 FROM $O) WHERE c LIKE '%1' OR d < 0" },
	{ "SELECT time, c + 1, c > 5 FROM (SELECT time, 7 AS c FROM $E UNION ALL SELECT "
	  "time, f_s32 FROM $O UNION ALL SELECT time, NULL FROM $E)" },
	/* Running sums. */
	{ "SELECT time, SUM(f_s16) OVER (PARTITION BY f_u8) AS r, count(*) OVER (PARTITION "
	  "BY cpu) FROM $E" },
	{ "SELECT time, d FROM (SELECT time, SUM(c) OVER (PARTITION BY k) AS d FROM (SELECT "
	  "time, f_u8 AS k, 1 AS c FROM $O UNION ALL SELECT time, f_u8, -1 FROM $E)) WHERE d "
	  "> 0" },
	{ "SELECT time, SUM(iif(flag, f_s64, NULL)) OVER (PARTITION BY name) FROM $E" },
	{ "SELECT a.time, b.r FROM $E a LEFT ASOF JOIN (SELECT time, f_u8, SUM(f_s16) OVER (PARTITION BY f_u8) AS r FROM $O) b" ON
	  " AND a.time >= b.time" },
	/* PAIR JOIN. */
	{ "SELECT a.time, b.time, a.time - b.time, a.f_u8 FROM $E a PAIR JOIN $O b" ON },
	{ "SELECT a.time, " ALL_B " FROM $E a PAIR JOIN $O b" ON },
	{ "SELECT a.time, " ALL_B " FROM $E a LEFT PAIR JOIN $O b" ON },
	{ "SELECT a.time, b.f_s16 FROM $E a PAIR JOIN $O b ON a.name = b.name AND a.f_u8 = "
	  "b.f_u8" },
	{ "SELECT a.time, b.f_s16 FROM $E a PAIR JOIN $O b ON CASE WHEN a.flag THEN a.f_u8 "
	  "END = CASE WHEN b.flag THEN b.f_u8 END" },
	{ "SELECT a.time, b.f_s16 FROM $E a LEFT PAIR JOIN $O b ON CASE WHEN a.flag THEN "
	  "a.f_u8 END = CASE WHEN b.flag THEN b.f_u8 END" },
	{ "SELECT a.time, b.time FROM $E a PAIR JOIN $O b" ON " WITHIN 400us" },
	{ "SELECT a.time, b.time, b.name FROM $E a LEFT PAIR JOIN $O b" ON " WITHIN 300us" },
	{ "SELECT a.time, b.time, b.path FROM $E a PAIR JOIN $E b" ON },
	{ "SELECT a.time, b.time, b.f_s32, b.path, b.pid FROM $E a PAIR JOIN " BOTH " b" ON },
	{ "SELECT a.time, b.f_s32 + 1, b.path FROM $E a LEFT PAIR JOIN " BOTH " b" ON },
	{ "SELECT a.time, iif(b.flag, b.f_s8, NULL), b.f_s16 * 2, b.name || '!' FROM $E a LEFT PAIR JOIN $O b" ON
	  " WHERE a.f_u16 < 30000" },
	{ "SELECT a.time, b.f_u16 FROM $E a PAIR JOIN $O b" ON
	  " WHERE b.f_u16 < 30000 AND a.f_s32 > b.f_s32" },
	{ "SELECT a.time, b.probe, a.probe FROM $E a PAIR JOIN (SELECT f_u8, probe FROM tracepoint:test:* WHERE flag OR probe LIKE '%other') b" ON
	  " WHERE b.probe LIKE '%r' OR a.f_u8 = 1" },
	{ "SELECT a.time, c.time, b.time FROM $E a PAIR JOIN $O b" ON
	  " PAIR JOIN $O c ON a.f_u8 = c.f_u8" },
	{ "SELECT a.time, a.f_u8, b.time FROM (SELECT time, f_u8 FROM $E UNION ALL SELECT time, f_u8 FROM $E WHERE flag) a PAIR JOIN $O b" ON },
	{ "SELECT x.time, x.s, x.p FROM (SELECT a.time, b.f_s16 AS s, 'pair' AS p FROM $E a PAIR JOIN $O b" ON
	  " UNION ALL SELECT time, f_s8, NULL FROM $O) x" },
	/* ASOF JOIN. */
	{ "SELECT a.time, b.time, b.path FROM $E a ASOF JOIN $O b" ON " AND a.time >= b.time" },
	{ "SELECT a.time, b.time, b.f_s64 FROM $E a LEFT ASOF JOIN $O b" ON
	  " AND a.time >= b.time WITHIN 700us" },
	{ "SELECT a.time, b.time, b.path FROM $E a ASOF JOIN $E b" ON " AND a.time >= b.time" },
	{ "SELECT a.time, b.f_s32 FROM $E a LEFT ASOF JOIN " BOTH
	  " b ON a.name = b.path AND a.time >= b.time" },
	{ "SELECT a.time, b.time, c.time FROM $E a ASOF JOIN $O b" ON
	  " AND a.time >= b.time PAIR JOIN $O c ON a.f_u8 = c.f_u8" },
	/* On keys, on one side, on both, and what can fault. */
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE a.f_u8 = 1" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE b.f_u8 IN (0, 2) AND a.f_s8 < 1" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE a.f_u16 < 30000" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE b.f_u16 < 30000 AND a.f_u8 + a.f_s8 > 0" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE a.f_u8 > b.f_u16 % 3 OR b.f_s8 = 0" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE 6 / a.f_u8 > 3 AND a.f_u8 < 2" },
	{ ITEMS EVENT "PAIR" OTHER "a.f_u8 = b.f_s8 WHERE b.f_s8 < 3 AND a.f_u8 <> 0" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WITHIN 500us WHERE a.f_s8 >= 0" },
	{ ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE a.f_u8 = 1" },
	{ ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE b.f_u8 = 1" },
	{ ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE b.f_u8 IS NULL AND a.f_s8 <> 1" },
	{ ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE a.f_u16 < 30000" },
	{ ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE a.f_u8 = 1" },
	{ ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE a.f_u16 < 30000 AND b.f_u16 < 30000" },
	{ ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE b.f_s8 = 0 AND a.flag" },
	{ ITEMS EVENT "LEFT ASOF" OTHER KEYS LATER " WHERE a.f_u16 < 30000" },
	{ ITEMS EVENT "LEFT ASOF" OTHER KEYS LATER " WHERE b.f_u16 < 30000 OR a.f_u8 = 2" },
	/* What faults behind a guard, before one, between two, as keys and below. */
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE b.f_u8 <> 0 AND 6 / b.f_u8 >= 0" },
	{ ITEMS EVENT "PAIR" OTHER KEYS
		      " WHERE 6 / b.f_u8 >= 0 AND b.f_u8 <> 1 AND a.f_u16 < 30000" },
	{ ITEMS EVENT "PAIR" OTHER KEYS " WHERE 6 / a.f_u8 > 1 AND a.f_s8 = 0" },
	{ ITEMS EVENT "LEFT PAIR" OTHER KEYS " WHERE b.f_u8 IS NULL OR 6 / b.f_u8 > 1" },
	{ ITEMS EVENT "ASOF" OTHER KEYS LATER " WHERE 9 / b.f_u8 > 3 AND a.f_u16 < 30000" },
	{ ITEMS ", CASE WHEN b.f_u8 <> 0 THEN 6 / b.f_u8 END" EVENT "PAIR" OTHER KEYS },
	{ ITEMS ", 6 / (b.f_u8 - 1) + 6 / b.f_u8" EVENT "PAIR" OTHER KEYS " WHERE b.f_u8 <> 0" },
	{ ITEMS EVENT "PAIR" OTHER
		      "12 / a.f_u8 = 12 / b.f_u8 AND a.f_s8 = b.f_s8 WHERE a.f_s8 = 0" },
	{ ITEMS EVENT "LEFT PAIR" OTHER KEYS
		      " WHERE coalesce(6 / b.f_u8, 7) > 3 AND a.f_u16 < 30000" },
	{ "SELECT count(*), sum(100 / b.f_u8) FILTER (WHERE b.f_u8 <> 0) AS s" EVENT
	  "PAIR" OTHER KEYS },
	{ "SELECT b.f_u16 / b.f_u8 AS k, count(*) AS n" EVENT "PAIR" OTHER KEYS
	  " WHERE b.f_s8 <> 0 AND b.f_u8 > 0 GROUP BY k" },
	/* Unions: on a side of a join, above branches that are joins, constants of branches. */
	{ ITEMS EVENT "ASOF" UNION_SIDE KEYS LATER " WHERE a.f_u8 < 2 AND b.k = 1" },
	{ ITEMS EVENT "ASOF" UNION_SIDE KEYS LATER " WHERE b.f_u8 < 2 AND b.f_s8 <> 0" },
	{ ITEMS EVENT "PAIR" UNION_SIDE KEYS " WHERE a.f_u8 = 0 AND b.f_u16 > 20000" },
	{ "SELECT * FROM " EITHER " WHERE f_u8 = 1" },
	{ "SELECT * FROM " EITHER " WHERE k <> 2 AND f_u16 > 20000" },
	{ "SELECT * FROM " EITHER " WHERE 100 / (k - 1) >= 0 AND f_u8 = 1" },
	{ ITEMS ", b.q" EVENT "ASOF" DIVIDED KEYS LATER " WHERE b.f_u8 <> 0 AND b.q >= 0" },
	{ ITEMS EVENT "ASOF" DIVIDED KEYS LATER " WHERE a.f_u16 < 30000" },
	{ "SELECT * FROM " EITHER " WHERE k = 3 OR f_s8 = 0 AND f_u16 / f_u8 > 20000" },
	{ "SELECT f_u8, k, count(*), sum(f_u16) FROM " EITHER " WHERE f_u8 = 2 GROUP BY f_u8, k" },
	{ "SELECT k, count(*) FROM " EITHER " WHERE k IN (1, 3) AND f_s8 < 1 GROUP BY k, k * 2" },
	/* Sums of other keys are none of the query's; what reads no key must come to the sum. */
	{ "SELECT * FROM " DEPTH " WHERE f_u8 = 1" },
	{ "SELECT * FROM " DEPTH " WHERE f_u8 + f_s8 < 2 AND f_u16 > 20000" },
	{ "SELECT * FROM " DEPTH " WHERE 6 / f_u8 > 3 AND f_s8 = 0" },
	{ "SELECT * FROM " DIVIDED_DEPTH " WHERE f_u8 = 1" },
	{ "SELECT * FROM " DEPTH " WHERE depth > 1 AND f_s8 = 0" },
	{ "SELECT f_u8, max(depth), count(*) FROM " DEPTH " WHERE f_u8 <> 0 GROUP BY f_u8" },
	/* Both sides of a join; a sum of a sum; WHERE above and below that leaves rows out. */
	{ "SELECT a.time, b.r FROM $E AS a LEFT ASOF JOIN (SELECT time, f_u8 & 15 AS k, SUM(f_s16) OVER "
	  "(PARTITION BY f_u8 & 15) AS r FROM $O) AS b ON a.f_u8 & 15 = b.k AND a.time >= b.time",
	  "SELECT a.time, (SELECT b.r FROM (SELECT time, f_u8 & 15 AS k, SUM(f_s16) OVER (PARTITION "
	  "BY f_u8 & 15 ORDER BY time) AS r FROM ot) AS b WHERE b.k = a.f_u8 & 15 AND b.time <= "
	  "a.time ORDER BY b.time DESC LIMIT 1) FROM ev AS a ORDER BY 1" },
	{ "SELECT a.time, a.n - b.n FROM (SELECT time, cpu, count(*) OVER (PARTITION BY cpu) AS n "
	  "FROM $E) AS a ASOF JOIN (SELECT time, cpu, n FROM (SELECT time, cpu, f_u8, count(*) OVER "
	  "(PARTITION BY cpu) AS n FROM $E) AS c WHERE f_u8 < 2) AS b ON a.cpu = b.cpu AND a.time >= "
	  "b.time",
	  "WITH w AS (SELECT time, cpu, f_u8, count(*) OVER (PARTITION BY cpu ORDER BY time) AS n "
	  "FROM ev) SELECT * FROM (SELECT a.time, a.n - (SELECT b.n FROM w AS b WHERE b.f_u8 < 2 "
	  "AND b.cpu = a.cpu AND b.time < a.time ORDER BY b.time DESC LIMIT 1) AS d FROM w AS a) "
	  "WHERE d IS NOT NULL ORDER BY 1" },
	{ "SELECT time, SUM(r) OVER (PARTITION BY k) AS s FROM (SELECT time, cpu AS k, SUM(f_u8) OVER "
	  "(PARTITION BY flag) AS r FROM $E) AS q WHERE r > 10",
	  "SELECT time, SUM(r) OVER (PARTITION BY k ORDER BY time) AS s FROM (SELECT time, cpu AS k, "
	  "SUM(f_u8) OVER (PARTITION BY flag ORDER BY time) AS r FROM ev) AS q WHERE r > 10 ORDER BY 1" },
	/* Behind conditions, keys and arguments of user space they run along, too. */
	{ "SELECT sum(2) OVER (PARTITION BY 'b') AS s FROM (SELECT -instr(name, 'A') AS c FROM $O) AS q "
	  "WHERE c <> 8",
	  "SELECT 2 * row_number() OVER (ORDER BY time) FROM ot ORDER BY 1" },
	{ "SELECT time, sum(f_s16) OVER (PARTITION BY f_u8), count(*) OVER () FROM $E WHERE upper(name) "
	  "<> 'A'",
	  "SELECT time, sum(f_s16) OVER (PARTITION BY f_u8 ORDER BY time), count(*) OVER (ORDER BY time) "
	  "FROM ev WHERE upper(name) <> 'A' ORDER BY 1" },
	{ "SELECT sum(f_s16) OVER (PARTITION BY upper(name)), count(*) OVER (PARTITION BY f_u8) FROM "
	  "(SELECT f_s16, name, f_u8 FROM $E WHERE upper(name) <> 'A' UNION ALL SELECT f_s16, path, 1 "
	  "FROM $O) AS q",
	  "SELECT sum(f_s16) OVER (PARTITION BY upper(name) ORDER BY time), count(*) OVER (PARTITION BY "
	  "f_u8 ORDER BY time) FROM (SELECT time, f_s16, name, f_u8 FROM ev WHERE upper(name) <> 'A' "
	  "UNION ALL SELECT time, f_s16, path, 1 FROM ot) ORDER BY time" },
	{ "SELECT max(s), min(s) FROM (SELECT sum(length(name)) OVER (PARTITION BY cpu) AS s FROM (SELECT "
	  "cpu, name FROM $E WHERE upper(name) <> 'A') AS a) AS b",
	  "SELECT max(s), min(s) FROM (SELECT sum(length(name)) OVER (PARTITION BY cpu ORDER BY time) AS s "
	  "FROM ev WHERE upper(name) <> 'A')" },
	{ "SELECT probe, max(r), min(r), count(*) FROM (SELECT probe, SUM(f_s8) OVER (PARTITION BY "
	  "probe) AS r FROM tracepoint:test:*) AS q GROUP BY probe",
	  "SELECT probe, max(r), min(r), count(*) FROM (SELECT probe, SUM(f_s8) OVER (PARTITION BY "
	  "probe ORDER BY time) AS r FROM (SELECT * FROM ev UNION ALL SELECT * FROM ot)) GROUP BY probe" },
};

/* Keys of many sums: one key shares a slot; those that end in an operator are made one each. */
static const char *const sum_keys[] = {
	"f_s64", "f_u8", "iif(flag, f_s64, NULL), cpu", "", "f_s32 + ", "name, f_s32 / ",
};

static const char *many_sums(const char *key, const char *order, const char *from,
			     struct arena *arena)
{
	static const char *const args[] = { "1", "-1", "f_s16", "f_u8 - 100", "flag", "f_s32" };
	bool is_apart = *key && key[strlen(key) - 1] == ' ';
	const char *text = "SELECT time";

	for (u32 i = 0; i < 16; i++)
		text = arena_printf(arena, "%s, SUM(%s) OVER (%s%s%.*s%s)", text,
				    args[i % ARRAY_SIZE(args)], *key ? "PARTITION BY " : "", key,
				    is_apart ? (int)i + 1 : 0, "2111111111111111", order);
	return arena_printf(arena, "%s FROM %s", text, from);
}

u32 fixed_n(void)
{
	return ARRAY_SIZE(queries) + ARRAY_SIZE(sum_keys);
}

void fixed_query(u32 number, struct oracle_query *query, struct arena *arena)
{
	const char *ebql, *sqlite;
	enum window_shape shape = SHAPE_NONE;

	if (number < ARRAY_SIZE(queries)) {
		ebql = queries[number].ebql;
		sqlite = queries[number].sqlite;
		shape = queries[number].shape;
	} else {
		const char *key = sum_keys[number - ARRAY_SIZE(queries)];

		ebql = many_sums(key, "", "$E", arena);
		sqlite = many_sums(key, " ORDER BY time", "ev ORDER BY 1", arena);
	}
	*query = (struct oracle_query){
		.text = phrase_new(arena, PHRASE_FIXED, ebql, 0),
		.has_reference = sqlite != NULL,
		.has_own_names = true,
		.is_ordered = !strstr(ebql, "count(") && shape == SHAPE_NONE,
		.may_fault = true,
		.is_wide = strstr(ebql, "f_u64") != NULL,
		.counts_faults = true,
		.shape = shape,
	};
	phrase_mark(query->text, strstr(ebql, "UNION ALL") ? TRAIT_UNION_OF_STREAMS : TRAIT_NONE);
	if (shape != SHAPE_NONE) {
		query->size = queries[number].size;
		query->advance = queries[number].advance;
	}
	query->text->sqlite = sqlite;
}
