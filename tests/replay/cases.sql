-- Queries over a few events with the rows that must come, worked out by hand.
-- The form is explained in cases.c.

-- events: around the ends of 64 bits
-- event: f_s64=9223372036854775807 f_u64=9223372036854775807 f_u8=1
-- event: f_s64=-9223372036854775808 f_u64=1 f_u8=2
-- event: f_s64=5 f_u64=3 f_u8=3

-- case: s64 + 1 overflows once: NULL, counted
-- own: SQLite goes on with REAL
SELECT sum(f_s64 + 1) AS s FROM tracepoint:test:event;
-- row: -9223372036854775801
-- lost: fault=1

-- case: s64 - 1 overflows at the other end
-- own: SQLite goes on with REAL
SELECT max(f_s64 - 1) AS hi, min(f_s64 - 1) AS lo FROM tracepoint:test:event WHERE f_s64 < 0;
-- row: NULL | NULL
-- lost: fault=1

-- case: the product overflows, both ways
-- own: SQLite goes on with REAL
SELECT f_u8, f_s64 * f_u64 AS p, count(*) AS n FROM tracepoint:test:event GROUP BY f_u8, p;
-- row: 1 | NULL | 1
-- row: 2 | -9223372036854775808 | 1
-- row: 3 | 15 | 1
-- lost: fault=1

-- case: C's integers are the lower bits, with their sign
-- own: SQLite takes such a type for INTEGER or NUMERIC
SELECT f_u8, CAST(f_s64 AS 's32') AS a, CAST(f_s64 AS 'unsigned char') AS b, CAST(f_s64 AS 'signed char') AS c,
CAST(f_u64 - 4 AS 'u16') AS d, CAST(f_u64 AS 's64') AS e, CAST(f_u8 AS 'int') AS f
FROM tracepoint:test:event GROUP BY 1, 2, 3, 4, 5, 6, 7;
-- row: 1 | -1 | 255 | -1 | 65531 | 9223372036854775807 | 1
-- row: 2 | 0 | 0 | 0 | 65533 | 1 | 2
-- row: 3 | 5 | 5 | 5 | 65535 | 3 | 3

-- case: 14 computed keys, each of which may be NULL: the verifier walks no way for each combination
SELECT count(*) AS n, max(f_u8) AS k FROM tracepoint:test:event
GROUP BY f_u64 / (f_u8 - 1), f_u64 / (f_u8 - 2), f_u64 / (f_u8 - 3), f_u64 / (f_u8 - 4),
f_u64 / (f_u8 - 5), f_u64 / (f_u8 - 6), f_u64 / (f_u8 - 7), f_u64 / (f_u8 - 8),
f_u64 / (f_u8 - 9), f_u64 / (f_u8 - 10), f_u64 / (f_u8 - 11), f_u64 / (f_u8 - 12),
f_u64 / (f_u8 - 13), f_u64 / (f_u8 - 14);
-- row: 1 | 1
-- row: 1 | 2
-- row: 1 | 3
-- lost: fault=3

-- case: 14 computed keys that may be NULL, each of which is asked for behind them
SELECT sum(nullif(f_u8, 1)), sum(nullif(f_u8, 2)), sum(nullif(f_u8, 3)), sum(nullif(f_u8, 4)),
sum(nullif(f_u8, 5)), sum(nullif(f_u8, 6)), sum(nullif(f_u8, 7)), sum(nullif(f_u8, 8)),
sum(nullif(f_u8, 9)), sum(nullif(f_u8, 10)), sum(nullif(f_u8, 11)), sum(nullif(f_u8, 12)),
sum(nullif(f_u8, 13)), sum(nullif(f_u8, 14))
FROM tracepoint:test:event
GROUP BY nullif(f_u8, 1), nullif(f_u8, 2), nullif(f_u8, 3), nullif(f_u8, 4), nullif(f_u8, 5),
nullif(f_u8, 6), nullif(f_u8, 7), nullif(f_u8, 8), nullif(f_u8, 9), nullif(f_u8, 10),
nullif(f_u8, 11), nullif(f_u8, 12), nullif(f_u8, 13), nullif(f_u8, 14);
-- row: NULL | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1
-- row: 2 | NULL | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2 | 2
-- row: 3 | 3 | NULL | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3 | 3

-- case: running sums of 6 computed keys, each of which may be NULL
SELECT k, max(s) AS s FROM (SELECT f_u64 / (f_u8 - 1) AS k, SUM(f_u8) OVER (PARTITION BY
f_u64 / (f_u8 - 1), f_u64 / (f_u8 - 2), f_u64 / (f_u8 - 3), f_u64 / (f_u8 - 4), f_u64 / (f_u8 - 5),
f_u64 / (f_u8 - 6) ROWS UNBOUNDED PRECEDING) AS s FROM tracepoint:test:event) AS q GROUP BY k;
-- row: NULL | 1
-- row: 1 | 3
-- lost: fault=3

-- case: 14 computed keys of three values each
SELECT count(*) AS n, max(f_u8) AS k FROM tracepoint:test:event
GROUP BY CASE f_u8 % 2 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 3 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
CASE f_u8 % 4 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 5 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
CASE f_u8 % 6 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 7 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
CASE f_u8 % 8 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 9 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
CASE f_u8 % 10 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 11 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
CASE f_u8 % 12 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 13 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END,
CASE f_u8 % 14 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END, CASE f_u8 % 15 WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 3 END;
-- row: 1 | 1
-- row: 1 | 2
-- row: 1 | 3

-- case: the negation of the smallest number overflows
-- own: SQLite goes on with REAL
SELECT count(-f_s64) AS n FROM tracepoint:test:event;
-- row: 2
-- lost: fault=1

-- case: the smallest number / -1 overflows
-- own: SQLite goes on with REAL
SELECT count(f_s64 / -1) AS n FROM tracepoint:test:event;
-- row: 2
-- lost: fault=1

-- case: the smallest number % -1 is 0
SELECT sum(f_s64 % -1) AS s, count(f_s64 % -1) AS n FROM tracepoint:test:event;
-- row: 0 | 3

-- case: an overflow in WHERE is NULL: the row does not pass
-- own: SQLite goes on with REAL
SELECT count(*) AS n FROM tracepoint:test:event WHERE f_s64 + 1 > 0;
-- row: 1
-- lost: fault=1

-- case: NOT of an overflow is NULL too
-- own: SQLite goes on with REAL
SELECT count(*) AS n FROM tracepoint:test:event WHERE NOT (f_s64 + 1 > 0);
-- row: 1
-- lost: fault=1

-- case: an overflow IS NULL
-- own: SQLite goes on with REAL
SELECT count(*) AS n FROM tracepoint:test:event WHERE f_s64 + 1 IS NULL;
-- row: 1
-- lost: fault=1

-- case: sums are exact beyond 64 bits
-- own: SQLite gives an error
SELECT sum(f_s64) AS a, sum(f_u64) AS b, sum(f_s64) FILTER (WHERE f_s64 > 0) AS c
FROM tracepoint:test:event;
-- row: 4 | 9223372036854775811 | 9223372036854775812

-- case: u64 - u64 is negative where it must be
SELECT f_u8, sum(f_u64 - 2) AS d FROM tracepoint:test:event GROUP BY f_u8;
-- row: 1 | 9223372036854775805
-- row: 2 | -1
-- row: 3 | 1

-- case: literals at the ends
SELECT count(*) AS n FROM tracepoint:test:event
WHERE f_s64 = -9223372036854775808 OR f_s64 = 9223372036854775807;
-- row: 2

-- case: an event that is negative for two arguments is one negative event
-- own: SQLite has no quantiles
SELECT p50(f_s64) FILTER (WHERE f_u8 > 1) AS a, p50(f_s64) AS b, p50(f_s64 / 2) AS c, count(*) AS n
FROM tracepoint:test:event WHERE f_s64 < 0;
-- row: NULL | NULL | NULL | 1
-- lost: negative=1

-- case: one that is negative under a filter only
-- own: SQLite has no quantiles
SELECT p50(f_s64) FILTER (WHERE f_u8 > 2) AS a, p50(f_s64 / 2) FILTER (WHERE f_u8 = 2) AS b,
count(*) AS n FROM tracepoint:test:event WHERE f_s64 < 0;
-- row: NULL | NULL | 1
-- lost: negative=1

-- case: ~ of the ends
SELECT ~f_s64 AS a, count(*) AS n FROM tracepoint:test:event GROUP BY a;
-- row: -9223372036854775808 | 1
-- row: 9223372036854775807 | 1
-- row: -6 | 1

-- events: u64 of 2^63 and more
-- event: f_u64=18446744073709551615 f_s64=-1 f_u8=0
-- event: f_u64=9223372036854775808 f_s64=-9223372036854775808 f_u8=1
-- event: f_u64=9223372036854775807 f_s64=9223372036854775807 f_u8=2
-- event: f_u64=0 f_s64=0 f_u8=3

-- case: compared with constants
-- own: SQLite's integers end at 2^63 - 1
SELECT count(*) FILTER (WHERE f_u64 > 9223372036854775807) AS a,
count(*) FILTER (WHERE f_u64 >= 9223372036854775808) AS b,
count(*) FILTER (WHERE f_u64 = 18446744073709551615) AS c,
count(*) FILTER (WHERE f_u64 < 0) AS d,
count(*) FILTER (WHERE f_u64 > -1) AS e,
count(*) FILTER (WHERE f_u64 IN (18446744073709551615, 0)) AS f,
count(*) FILTER (WHERE f_u64 BETWEEN -1 AND 9223372036854775808) AS g
FROM tracepoint:test:event;
-- row: 2 | 2 | 1 | 0 | 4 | 2 | 3

-- case: compared with signed columns
-- own: SQLite's integers end at 2^63 - 1
SELECT count(*) FILTER (WHERE f_u64 = f_s64) AS a, count(*) FILTER (WHERE f_u64 > f_s64) AS b,
count(*) FILTER (WHERE f_s64 < f_u64) AS c, count(*) FILTER (WHERE f_s64 >= f_u64) AS d,
count(*) FILTER (WHERE f_s64 IS NOT f_u64) AS e, count(*) FILTER (WHERE f_s64 <> f_u64) AS f
FROM tracepoint:test:event;
-- row: 2 | 2 | 2 | 2 | 2 | 2

-- case: min, max, sum, avg
-- own: SQLite's integers end at 2^63 - 1
SELECT min(f_u64) AS a, max(f_u64) AS b, sum(f_u64) AS c, avg(f_u64) AS d,
min(f_u64) FILTER (WHERE f_u64 > 1) AS e FROM tracepoint:test:event;
-- row: 0 | 18446744073709551615 | 36893488147419103230 | 9223372036854775808.0 | 9223372036854775807

-- case: as a group key
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u64, count(*) AS n FROM tracepoint:test:event GROUP BY f_u64;
-- row: 18446744073709551615 | 1
-- row: 9223372036854775808 | 1
-- row: 9223372036854775807 | 1
-- row: 0 | 1

-- case: u64 + u64 overflows at 2^64 only
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u8, max(f_u64 + 1) AS m FROM tracepoint:test:event GROUP BY f_u8;
-- row: 0 | NULL
-- row: 1 | 9223372036854775809
-- row: 2 | 9223372036854775808
-- row: 3 | 1
-- lost: fault=1

-- case: the negative of 2^63 fits, that of more does not
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u8, min(-f_u64) AS m FROM tracepoint:test:event GROUP BY f_u8;
-- row: 0 | NULL
-- row: 1 | -9223372036854775808
-- row: 2 | -9223372036854775807
-- row: 3 | 0
-- lost: fault=1

-- case: divided and taken apart
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u8, f_u64 / 10 AS q, f_u64 % 10 AS r, f_u64 >> 1 AS s, f_u64 & 255 AS b, count(*) AS n
FROM tracepoint:test:event WHERE f_u8 < 2 GROUP BY f_u8, q, r, s, b;
-- row: 0 | 1844674407370955161 | 5 | 9223372036854775807 | 255 | 1
-- row: 1 | 922337203685477580 | 8 | 4611686018427387904 | 0 | 1

-- case: negated: 2^63 has a signed form, what is more has none
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u8, min(-f_u64) AS m FROM tracepoint:test:event GROUP BY f_u8;
-- row: 0 | NULL
-- row: 1 | -9223372036854775808
-- row: 2 | -9223372036854775807
-- row: 3 | 0
-- lost: fault=1

-- case: divided by a negative number: 2^63 and more has no signed form
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u8, max(f_u64 / -1) AS m FROM tracepoint:test:event WHERE f_u8 >= 2 GROUP BY f_u8;
-- row: 2 | -9223372036854775807
-- row: 3 | 0

-- case: ordered by the user part
-- own: SQLite's integers end at 2^63 - 1
-- ordered
SELECT f_u64 FROM tracepoint:test:event WHERE f_u8 >= 2 GROUP BY f_u64 ORDER BY f_u64 DESC;
-- row: 9223372036854775807
-- row: 0

-- case: shifted, the bits stay unsigned
-- own: SQLite's integers end at 2^63 - 1
SELECT f_u8, f_u64 >> f_s8 AS a, f_u64 << f_s8 AS b, f_u64 << 1 AS c, f_u64 << 0 AS d, f_u64 >> 63 AS e,
count(*) AS n FROM tracepoint:test:event GROUP BY f_u8, a, b, c, d, e;
-- row: 0 | 18446744073709551615 | 18446744073709551615 | 18446744073709551614 | 18446744073709551615 | 1 | 1
-- row: 1 | 9223372036854775808 | 9223372036854775808 | 0 | 9223372036854775808 | 1 | 1
-- row: 2 | 9223372036854775807 | 9223372036854775807 | 18446744073709551614 | 9223372036854775807 | 0 | 1
-- row: 3 | 0 | 0 | 0 | 0 | 0 | 1

-- events: shifts
-- event: f_u8=0 f_s8=0 f_s64=-5 f_u32=3
-- event: f_u8=1 f_s8=-1 f_s64=-5 f_u32=3
-- event: f_u8=63 f_s8=63 f_s64=-5 f_u32=3
-- event: f_u8=64 f_s8=-63 f_s64=-5 f_u32=3
-- event: f_u8=200 f_s8=-128 f_s64=-5 f_u32=3

-- case: to the right by 0, 1, 63, 64 and more
SELECT f_u8, f_s64 >> f_u8 AS a, f_u32 >> f_u8 AS b, count(*) AS n
FROM tracepoint:test:event GROUP BY f_u8, a, b;
-- row: 0 | -5 | 3 | 1
-- row: 1 | -3 | 1 | 1
-- row: 63 | -1 | 0 | 1
-- row: 64 | -1 | 0 | 1
-- row: 200 | -1 | 0 | 1

-- case: to the left; bits beyond the 64th go
SELECT f_u8, f_s64 << f_u8 AS a, f_u32 << f_u8 AS b, count(*) AS n
FROM tracepoint:test:event GROUP BY f_u8, a, b;
-- row: 0 | -5 | 3 | 1
-- row: 1 | -10 | 6 | 1
-- row: 63 | -9223372036854775808 | -9223372036854775808 | 1
-- row: 64 | 0 | 0 | 1
-- row: 200 | 0 | 0 | 1

-- case: a negative amount shifts the other way
SELECT f_s8, f_s64 >> f_s8 AS a, f_s64 << f_s8 AS b, count(*) AS n
FROM tracepoint:test:event GROUP BY f_s8, a, b;
-- row: 0 | -5 | -5 | 1
-- row: -1 | -10 | -3 | 1
-- row: 63 | -1 | -9223372036854775808 | 1
-- row: -63 | -9223372036854775808 | -1 | 1
-- row: -128 | 0 | -1 | 1

-- case: constant amounts
SELECT min(f_u32 << 64) AS a, min(f_s64 >> 64) AS b, min(f_s64 << -1) AS c, min(f_s64 >> -1) AS d,
min(f_s64 << -100) AS e, min(f_u32 >> 100) AS f, min(f_s64 >> 63) AS g, min(f_s64 << 0) AS h
FROM tracepoint:test:event;
-- row: 0 | -1 | -3 | -10 | -1 | 0 | -1 | -5

-- events: division
-- event: f_s32=7 f_s8=2 f_u8=0
-- event: f_s32=-7 f_s8=2 f_u8=0
-- event: f_s32=7 f_s8=-2 f_u8=2
-- event: f_s32=-7 f_s8=-2 f_u8=3
-- event: f_s32=7 f_s8=0 f_u8=0

-- case: toward zero, the remainder with the sign of the dividend
SELECT f_s32, f_s8, min(f_s32 / f_s8) AS q, min(f_s32 % f_s8) AS r FROM tracepoint:test:event
WHERE f_s8 <> 0 GROUP BY f_s32, f_s8;
-- row: 7 | 2 | 3 | 1
-- row: -7 | 2 | -3 | -1
-- row: 7 | -2 | -3 | 1
-- row: -7 | -2 | 3 | -1

-- case: x / 0 is NULL and counted; NULL is a group of its own
SELECT f_s32 / f_u8 AS q, count(*) AS n, count(f_s8) AS m FROM tracepoint:test:event GROUP BY q;
-- row: NULL | 3 | 3
-- row: 3 | 1 | 1
-- row: -2 | 1 | 1
-- lost: fault=3

-- case: x % 0 is NULL
SELECT count(f_s32 % f_u8) AS n FROM tracepoint:test:event;
-- row: 2
-- lost: fault=3

-- case: the NULL group and the 0 group are two
SELECT (f_s32 / f_u8) / 100 AS z, count(*) AS n FROM tracepoint:test:event GROUP BY z;
-- row: NULL | 3
-- row: 0 | 2
-- lost: fault=3

-- case: two keys that may be NULL
SELECT f_s32 / f_u8 AS a, f_s32 / f_s8 AS b, count(*) AS n FROM tracepoint:test:event
GROUP BY f_s32 / f_u8, f_s32 / f_s8;
-- row: NULL | 3 | 1
-- row: NULL | -3 | 1
-- row: 3 | -3 | 1
-- row: -2 | 3 | 1
-- row: NULL | NULL | 1
-- lost: fault=4

-- case: a division that is guarded by AND is not reached
SELECT count(*) AS n FROM tracepoint:test:event WHERE f_u8 <> 0 AND f_s32 / f_u8 = 3;
-- row: 1
-- lost: fault=0

-- case: a division that is guarded by CASE is not reached
SELECT sum(CASE WHEN f_u8 <> 0 THEN f_s32 / f_u8 ELSE 100 END) AS s FROM tracepoint:test:event;
-- row: 301
-- lost: fault=0

-- case: what the ranges decide is still NULL where a side is
SELECT count(*) FILTER (WHERE f_s32 / f_u8 < 5000000000) AS a,
count(*) FILTER (WHERE f_s32 / f_u8 > 5000000000 OR f_s8 = 0) AS b,
count(*) FILTER (WHERE NOT f_s32 / f_u8 > 5000000000) AS c,
count(*) FILTER (WHERE (f_s32 / f_u8 <> 5000000000) IS NULL) AS d FROM tracepoint:test:event;
-- row: 2 | 1 | 2 | 3

-- case: three-valued AND and OR
SELECT count(*) FILTER (WHERE f_s32 / f_u8 = 3 OR f_s32 = 7) AS a,
count(*) FILTER (WHERE NOT (f_s32 / f_u8 = 3 AND f_s32 = 7)) AS b,
count(*) FILTER (WHERE (f_s32 / f_u8 = 3 OR f_s32 = -7) IS NULL) AS c,
count(*) FILTER (WHERE (f_s32 / f_u8 = 3 AND f_s32 = 7) IS NULL) AS d
FROM tracepoint:test:event;
-- row: 3 | 2 | 2 | 2
-- lost: fault=12

-- case: an event has one fault of one expression, however many filters its cells have
SELECT sum(f_s32 / f_u8) AS a, max(f_s32 / f_u8) FILTER (WHERE f_s8 <> 0) AS b,
count(f_s32 / f_u8) FILTER (WHERE f_s32 > 0) AS c FROM tracepoint:test:event;
-- row: 1 | 3 | 1
-- lost: fault=3

-- case: and one of those that no filter keeps from it
SELECT max(f_s32 / f_u8) FILTER (WHERE f_s8 < 0) AS a,
sum(f_s32 / f_u8) FILTER (WHERE f_s8 = 0) AS b FROM tracepoint:test:event;
-- row: 3 | NULL
-- lost: fault=1

-- case: a key that is an argument too has one fault
SELECT f_s32 / f_u8 AS q, sum(f_s32 / f_u8) AS s, count(*) FILTER (WHERE f_s32 / f_u8 > 0) AS n
FROM tracepoint:test:event GROUP BY q;
-- row: NULL | NULL | 0
-- row: 3 | 3 | 1
-- row: -2 | -2 | 0
-- lost: fault=3

-- case: a condition that is a key and a filter
SELECT f_s32 / f_u8 > 0 AS q, sum(f_s8) FILTER (WHERE f_s32 / f_u8 > 0) AS s
FROM tracepoint:test:event GROUP BY q;
-- row: NULL | NULL
-- row: 1 | -2
-- row: 0 | NULL
-- lost: fault=3

-- case: a filter of several arguments is evaluated once
SELECT sum(f_s8) FILTER (WHERE f_s32 / f_u8 > 0) AS a, sum(f_u8) FILTER (WHERE f_s32 / f_u8 > 0) AS b,
count(*) FILTER (WHERE f_s32 / f_u8 > 0) AS c FROM tracepoint:test:event;
-- row: -2 | 2 | 1
-- lost: fault=3

-- case: IS and IS NOT are never NULL
SELECT count(*) FILTER (WHERE f_s32 / f_u8 IS 3) AS a,
count(*) FILTER (WHERE f_s32 / f_u8 IS NOT 3) AS b,
count(*) FILTER (WHERE f_s32 / f_u8 IS f_s32 / f_s8) AS c,
count(*) FILTER (WHERE f_s32 / f_u8 IS NULL) AS d FROM tracepoint:test:event;
-- row: 1 | 4 | 1 | 3

-- case: IS with the NULL on the left
SELECT count(*) FILTER (WHERE NULL IS f_s32 / f_u8) AS a, count(*) FILTER (WHERE NULL IS NOT f_s32) AS b,
count(*) FILTER (WHERE NULL IS name) AS c, count(*) FILTER (WHERE (NULL + 1) IS (NULL + f_u8)) AS d
FROM tracepoint:test:event;
-- row: 3 | 5 | 0 | 5

-- case: a constant NULL
SELECT count(*) FILTER (WHERE f_s32 = NULL) AS a, count(1 / 0) AS b, sum(f_u8) FILTER (WHERE NULL) AS c
FROM tracepoint:test:event;
-- row: 0 | 0 | NULL

-- case: NULL in lists
SELECT count(*) FILTER (WHERE f_s32 IN (7, NULL)) AS a, count(*) FILTER (WHERE f_s32 NOT IN (7, NULL)) AS b,
count(*) FILTER (WHERE (f_s32 IN (8, NULL)) IS NULL) AS c,
count(*) FILTER (WHERE f_s32 / f_u8 IN (3, 4)) AS d,
count(*) FILTER (WHERE f_s32 / f_u8 NOT IN (3, 4)) AS e,
count(*) FILTER (WHERE f_s32 NOT IN (-7)) AS f FROM tracepoint:test:event;
-- row: 3 | 0 | 5 | 1 | 1 | 3

-- case: BETWEEN, also with its bounds the wrong way round
SELECT count(*) FILTER (WHERE f_s32 BETWEEN -7 AND 7) AS a, count(*) FILTER (WHERE f_s32 BETWEEN 7 AND -7) AS b,
count(*) FILTER (WHERE f_s32 NOT BETWEEN 7 AND 8) AS c,
count(*) FILTER (WHERE f_s32 BETWEEN f_s8 AND 7) AS d FROM tracepoint:test:event;
-- row: 5 | 0 | 2 | 3

-- events: narrow types
-- event: f_u8=255 f_s8=-128 f_u16=65535 f_s16=-32768 f_u32=4294967295 f_s32=-2147483648 flag=1
-- event: f_u8=0 f_s8=127 f_u16=0 f_s16=32767 f_u32=0 f_s32=2147483647 flag=0

-- case: arithmetic never wraps at the column's own width
SELECT max(f_u8 * f_u8) AS a, min(f_s8 - 1) AS b, max(-f_s8) AS c, max(f_u16 + 1) AS d, min(f_s16 * 2) AS e,
max(f_u32 + 1) AS f, min(f_s32 - 1) AS g, max(f_u32 * f_u32) AS h FROM tracepoint:test:event
WHERE f_u8 = 255 OR f_u8 = 0;
-- own: u32 * u32 reaches past 2^63 - 1, where SQLite goes on with REAL
-- row: 65025 | -129 | 128 | 65536 | -65536 | 4294967296 | -2147483649 | 18446744065119617025

-- case: mixed signs compare by value
SELECT count(*) FILTER (WHERE f_s8 < f_u8) AS a, count(*) FILTER (WHERE f_s32 < f_u32) AS b,
count(*) FILTER (WHERE f_u16 > f_s16) AS c, count(*) FILTER (WHERE f_s32 = f_u32) AS d,
count(*) FILTER (WHERE f_u32 > -1) AS e, count(*) FILTER (WHERE f_u8 < 256) AS f,
count(*) FILTER (WHERE f_s8 >= -128) AS g, count(*) FILTER (WHERE f_u32 = -1) AS h
FROM tracepoint:test:event;
-- row: 1 | 1 | 1 | 0 | 2 | 2 | 2 | 0

-- case: bits of negative numbers
SELECT f_u8, f_s8 & 255 AS a, f_s32 | f_u8 AS b, ~f_u8 AS c, ~f_s8 AS d, f_s16 & f_s32 AS e, count(*) AS n
FROM tracepoint:test:event GROUP BY f_u8, a, b, c, d, e;
-- row: 255 | 128 | -2147483393 | -256 | 127 | -2147483648 | 1
-- row: 0 | 127 | 2147483647 | -1 | -128 | 32767 | 1

-- case: truth values are numbers
SELECT sum(flag) AS a, max(flag + flag) AS b, count(*) FILTER (WHERE flag) AS c,
count(*) FILTER (WHERE NOT flag) AS d, sum((f_s8 < 0) + (f_u8 > 9)) AS e,
count(*) FILTER (WHERE flag = (f_s8 < 0)) AS f FROM tracepoint:test:event;
-- row: 1 | 2 | 1 | 1 | 2 | 2

-- case: operators bind as in SQLite
SELECT min(1 + 2 * 3) AS a, min(f_u8 & 1 + 2) AS b, min(1 << 2 + 1) AS c, min(-f_s8 % 3) AS d,
count(*) FILTER (WHERE f_u8 & 1 = 1) AS e, count(*) FILTER (WHERE NOT f_u8 = 255) AS f,
count(*) FILTER (WHERE f_u8 = 0 OR f_u8 = 255 AND f_s8 = 5) AS g, min(~f_u8 & 15) AS h
FROM tracepoint:test:event;
-- row: 7 | 0 | 8 | -1 | 1 | 1 | 1 | 0

-- case: CASE in both forms, with and without ELSE
SELECT sum(CASE WHEN f_s8 < 0 THEN 1 WHEN f_s8 > 0 THEN 2 END) AS a, sum(CASE f_u8 WHEN 0 THEN 10 END) AS b,
count(CASE f_u8 WHEN 0 THEN 10 END) AS c, sum(CASE flag WHEN 1 THEN f_s32 ELSE f_u32 END) AS d
FROM tracepoint:test:event;
-- row: 3 | 10 | 1 | -2147483648

-- events: texts
-- event: f_u8=1 name='abc' path='abc' comm='abc' dl='abc'
-- event: f_u8=2 name='' path='' comm='' dl=''
-- event: f_u8=3 name='exactly16bytes!!' path='exactly16bytes!!' comm='exactly15bytes!' dl='exactly16bytes!!'
-- event: f_u8=4 name='ABC' path='exactly 24 bytes of path' comm='abcd' dl='a text of more than forty-eight bytes, all of it here'
-- event: f_u8=5 name='abcd' path='abc' comm='ab' dl='abc'

-- case: equality minds the length, the case, and nothing behind the NUL
SELECT count(*) FILTER (WHERE name = 'abc') AS a, count(*) FILTER (WHERE name = '') AS b,
count(*) FILTER (WHERE name = 'exactly16bytes!!') AS c, count(*) FILTER (WHERE name = 'exactly16bytes!!!') AS d,
count(*) FILTER (WHERE path = 'exactly 24 bytes of path') AS e, count(*) FILTER (WHERE comm = 'exactly15bytes!') AS f,
count(*) FILTER (WHERE name <> 'abc') AS g, count(*) FILTER (WHERE dl = 'abc') AS h
FROM tracepoint:test:event;
-- row: 1 | 1 | 1 | 0 | 1 | 1 | 4 | 2

-- case: order is by bytes, a prefix comes first
SELECT count(*) FILTER (WHERE name < 'abc') AS a, count(*) FILTER (WHERE name <= 'abc') AS b,
count(*) FILTER (WHERE name > 'abc') AS c, count(*) FILTER (WHERE name >= 'abcd') AS d,
count(*) FILTER (WHERE name > '') AS e, count(*) FILTER (WHERE name BETWEEN 'ABC' AND 'abc') AS f
FROM tracepoint:test:event;
-- row: 2 | 3 | 2 | 2 | 4 | 2

-- case: order is by the first byte that differs, not by a number made of them
SELECT count(*) FILTER (WHERE name < 'ba') AS a, count(*) FILTER (WHERE name > 'a') AS b,
count(*) FILTER (WHERE path < 'exactly 25') AS c, count(*) FILTER (WHERE 'exactly 1' > path) AS d
FROM tracepoint:test:event;
-- row: 4 | 3 | 4 | 3

-- case: text columns with each other
SELECT count(*) FILTER (WHERE name = path) AS a, count(*) FILTER (WHERE name = dl) AS b,
count(*) FILTER (WHERE comm < name) AS c, count(*) FILTER (WHERE path = dl) AS d,
count(*) FILTER (WHERE name <> comm) AS e, count(*) FILTER (WHERE name IS NOT path) AS f
FROM tracepoint:test:event;
-- row: 3 | 3 | 2 | 4 | 3 | 2

-- case: text lists
SELECT count(*) FILTER (WHERE name IN ('abc', '', 'nothing')) AS a, count(*) FILTER (WHERE name NOT IN ('abc')) AS b,
count(*) FILTER (WHERE name IN ('abc', NULL)) AS c, count(*) FILTER (WHERE name NOT IN ('abc', NULL)) AS d,
count(*) FILTER (WHERE 'abc' IN (name, comm)) AS e FROM tracepoint:test:event;
-- row: 2 | 4 | 1 | 0 | 1

-- case: texts as keys
SELECT path, count(*) AS n, max(f_u8) AS m FROM tracepoint:test:event GROUP BY path;
-- row: 'abc' | 2 | 5
-- row: '' | 1 | 2
-- row: 'exactly16bytes!!' | 1 | 3
-- row: 'exactly 24 bytes of path' | 1 | 4

-- case: wide keys: four texts and a number
SELECT name, path, comm, dl, f_u8, count(*) AS n FROM tracepoint:test:event
WHERE f_u8 <> 2 GROUP BY name, path, comm, dl, f_u8;
-- row: 'abc' | 'abc' | 'abc' | 'abc' | 1 | 1
-- row: 'exactly16bytes!!' | 'exactly16bytes!!' | 'exactly15bytes!' | 'exactly16bytes!!' | 3 | 1
-- row: 'ABC' | 'exactly 24 bytes of path' | 'abcd' | 'a text of more than forty-eight bytes, all of it here' | 4 | 1
-- row: 'abcd' | 'abc' | 'ab' | 'abc' | 5 | 1

-- case: many tests of one text need it once
SELECT count(*) FILTER (WHERE dl = 'a' OR dl = 'b' OR dl = 'c' OR dl = 'd' OR dl = 'e' OR dl = 'f' OR dl = 'abc') AS a,
count(*) FILTER (WHERE dl IN ('x', 'y', NULL, 'z', 'abc')) AS b, count(*) FILTER (WHERE NOT dl IN ('x', NULL)) AS c,
count(*) FILTER (WHERE f_u8 = 1 OR dl LIKE '%fort%' OR f_u8 = 2 OR dl = '' OR f_u8 = 9 OR dl > 'e') AS d
FROM tracepoint:test:event;
-- row: 2 | 2 | 0 | 4

-- case: the name of the stream beside a text column
SELECT count(*) FILTER (WHERE probe > name) AS a, count(*) FILTER (WHERE name = probe) AS b,
count(*) FILTER (WHERE comm <> probe) AS c FROM tracepoint:test:event;
-- row: 5 | 0 | 5

-- case: the name of the stream
SELECT probe, count(*) AS n FROM tracepoint:test:event WHERE probe LIKE '%:test:%' GROUP BY probe;
-- row: 'tracepoint:test:event' | 5

-- events: LIKE
-- event: f_u8=1 name='' path='/usr/bin/env'
-- event: f_u8=2 name='a' path='/usr/lib/libc.so'
-- event: f_u8=3 name='abcabc' path='/USR/BIN/ENV'
-- event: f_u8=4 name='a%b_c' path='kworker/0:1'
-- event: f_u8=5 name='ABCABCABCABCABCD' path='aaaaaaaaaaaaaaaaaaaaaaab'
-- event: f_u8=6 name='caf\xc3\xa9' path='\xc3\xa9t\xc3\xa9'

-- case: % alone, _ alone, nothing
SELECT count(*) FILTER (WHERE name LIKE '%') AS a, count(*) FILTER (WHERE name LIKE '_') AS b,
count(*) FILTER (WHERE name LIKE '') AS c, count(*) FILTER (WHERE name LIKE '_%') AS d,
count(*) FILTER (WHERE name LIKE '%%%') AS e, count(*) FILTER (WHERE name LIKE '______') AS f
FROM tracepoint:test:event;
-- row: 6 | 1 | 1 | 5 | 6 | 1

-- case: without regard to case, for ASCII
SELECT count(*) FILTER (WHERE name LIKE 'ABC%') AS a, count(*) FILTER (WHERE path LIKE '/usr/bin/%') AS b,
count(*) FILTER (WHERE path LIKE '%ENV') AS c, count(*) FILTER (WHERE name LIKE 'A') AS d,
count(*) FILTER (WHERE path NOT LIKE '/%') AS e FROM tracepoint:test:event;
-- row: 2 | 2 | 2 | 1 | 3

-- case: what follows % is looked for at every place
SELECT count(*) FILTER (WHERE name LIKE '%bc') AS a, count(*) FILTER (WHERE name LIKE '%bc%bc') AS b,
count(*) FILTER (WHERE name LIKE '%b%b%b%b%d') AS c, count(*) FILTER (WHERE path LIKE '%a%a%a%b') AS d,
count(*) FILTER (WHERE path LIKE '%aab') AS e, count(*) FILTER (WHERE path LIKE '%so') AS f,
count(*) FILTER (WHERE path LIKE '%b%e_v%') AS g FROM tracepoint:test:event;
-- row: 1 | 1 | 1 | 1 | 1 | 1 | 2

-- case: wildcards in the text are letters like others
SELECT count(*) FILTER (WHERE name LIKE 'a_b_c') AS a, count(*) FILTER (WHERE name = 'a%b_c') AS b,
count(*) FILTER (WHERE name LIKE 'a%c') AS c FROM tracepoint:test:event;
-- row: 1 | 1 | 2

-- case: a full array, and a pattern longer than the array
SELECT count(*) FILTER (WHERE name LIKE 'abcabcabcabcabcd') AS a, count(*) FILTER (WHERE name LIKE 'abcabcabcabcabcd_') AS b,
count(*) FILTER (WHERE name LIKE '%d') AS c, count(*) FILTER (WHERE path LIKE 'a%b') AS d
FROM tracepoint:test:event;
-- row: 1 | 0 | 1 | 1

-- case: _ is one character, also of several bytes
SELECT count(*) FILTER (WHERE name LIKE 'caf_') AS a, count(*) FILTER (WHERE path LIKE '_t_') AS b,
count(*) FILTER (WHERE path LIKE '%t%') AS c, count(*) FILTER (WHERE name LIKE '____') AS d
FROM tracepoint:test:event;
-- row: 1 | 1 | 1 | 1

-- case: GLOB minds the case
SELECT count(*) FILTER (WHERE name GLOB 'abc*') AS a, count(*) FILTER (WHERE path GLOB '/usr/*') AS b,
count(*) FILTER (WHERE name GLOB '?') AS c, count(*) FILTER (WHERE name GLOB '*') AS d,
count(*) FILTER (WHERE path GLOB '*/*:?') AS e FROM tracepoint:test:event;
-- row: 1 | 2 | 1 | 6 | 1

-- events: as long as a text of dynamic length can be
-- event: f_u8=1 dl='abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefgh'
-- event: f_u8=2 dl='abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefg'

-- case: 63 and 64 bytes
SELECT count(*) FILTER (WHERE dl LIKE 'ABCDEFGHABCDEFGHABCDEFGHABCDEFGHABCDEFGHABCDEFGHABCDEFGHABCDEFG%') AS a, count(*) FILTER (WHERE dl LIKE '%bcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefgH') AS b,
count(*) FILTER (WHERE dl = 'abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefgh') AS c, count(*) FILTER (WHERE dl LIKE '%h') AS d, min(f_u8) FILTER (WHERE dl < 'abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefgh') AS e
FROM tracepoint:test:event;
-- row: 2 | 1 | 1 | 1 | 2

-- case: as keys
SELECT dl, count(*) AS n FROM tracepoint:test:event GROUP BY dl;
-- row: 'abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefgh' | 1
-- row: 'abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefg' | 1

-- events: a text that is cut where it is read
-- event: f_u8=1 dl='abcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghabcdefghi'
-- event: f_u8=2 dl='short'

-- case: a streamed text that was cut is a fault where it is asked for
-- own: SQLite has all of the text
SELECT f_u8, substr(replace(dl, 's', 'S'), 1, 6) AS x FROM tracepoint:test:event;
-- row: 1 | 'abcdef'
-- row: 2 | 'Short'
-- lost: fault=1

-- case: and none where it is guarded
SELECT f_u8, CASE WHEN f_u8 > 1 THEN replace(dl, 's', 'S') END AS x FROM tracepoint:test:event;
-- row: 1 | NULL
-- row: 2 | 'Short'

-- case: nor behind what does not hold
SELECT f_u8 FROM tracepoint:test:event WHERE f_u8 > 1 AND replace(dl, 's', 'S') = 'Short';
-- row: 2

-- events: groups
-- event: f_u8=1 f_s32=10 f_u16=1 name='a' path='x'
-- event: f_u8=1 f_s32=-4 f_u16=1 name='a' path='y'
-- event: f_u8=2 f_s32=7 f_u16=1 name='b' path='x'
-- event: f_u8=2 f_s32=7 f_u16=2 name='a' path='x'
-- event: f_u8=3 f_s32=0 f_u16=2 name='b' path='y'
-- event: f_u8=1 f_s32=1 f_u16=1 name='a' path='x'

-- case: three keys
SELECT f_u8, name, path, count(*) AS n, sum(f_s32) AS s FROM tracepoint:test:event GROUP BY f_u8, name, path;
-- row: 1 | 'a' | 'x' | 2 | 11
-- row: 1 | 'a' | 'y' | 1 | -4
-- row: 2 | 'b' | 'x' | 1 | 7
-- row: 2 | 'a' | 'x' | 1 | 7
-- row: 3 | 'b' | 'y' | 1 | 0

-- case: a group whose rows no FILTER takes is still a row
SELECT f_u8, count(*) FILTER (WHERE f_s32 > 5) AS n, sum(f_s32) FILTER (WHERE f_s32 > 5) AS s,
min(f_s32) FILTER (WHERE f_s32 < 0) AS lo, max(f_s32) FILTER (WHERE f_s32 < 0) AS hi,
avg(f_s32) FILTER (WHERE f_s32 <> 7) AS m FROM tracepoint:test:event GROUP BY f_u8;
-- row: 1 | 1 | 10 | -4 | -4 | 2.3333333333333335
-- row: 2 | 2 | 14 | NULL | NULL | NULL
-- row: 3 | 0 | NULL | NULL | NULL | 0.0

-- case: nothing passes: no group, but one row without groups
SELECT count(*) AS n, count(f_s32 / f_u8) AS m, sum(f_s32) AS s, min(f_s32) AS lo, max(f_s32) AS hi, avg(f_s32) AS a
FROM tracepoint:test:event WHERE f_u8 > 100;
-- row: 0 | 0 | NULL | NULL | NULL | NULL

-- case: groups with nothing to show
SELECT f_u8, count(*) AS n FROM tracepoint:test:event WHERE f_u8 > 100 GROUP BY f_u8;

-- case: the keys alone
SELECT f_u8, name FROM tracepoint:test:event GROUP BY name, f_u8;
-- row: 1 | 'a'
-- row: 2 | 'b'
-- row: 2 | 'a'
-- row: 3 | 'b'

-- case: expressions over aggregates
SELECT f_u8 * 10 AS k, sum(f_s32) / count(*) AS q, max(f_s32) - min(f_s32) AS w, sum(f_s32) * 1.0 / count(*) AS r,
count(*) > 1 AS many FROM tracepoint:test:event GROUP BY f_u8;
-- row: 10 | 2 | 14 | 2.3333333333333335 | 1
-- row: 20 | 7 | 0 | 7.0 | 1
-- row: 30 | 0 | 0 | 0.0 | 0

-- case: HAVING, ORDER BY, LIMIT, OFFSET
-- ordered
SELECT f_u8, count(*) AS n, avg(f_s32) AS m FROM tracepoint:test:event
GROUP BY f_u8 HAVING count(*) > 1 OR avg(f_s32) < 0.5 ORDER BY n DESC, f_u8 LIMIT 2 OFFSET 1;
-- row: 2 | 2 | 7.0
-- row: 3 | 1 | 0.0

-- case: ordered by what is not shown, NULLs at both ends
-- ordered
SELECT f_u8 FROM tracepoint:test:event GROUP BY f_u8
ORDER BY min(f_s32) FILTER (WHERE f_s32 < 0) NULLS LAST, sum(f_s32) DESC;
-- row: 1
-- row: 2
-- row: 3

-- case: ordered by constants, which are no column numbers
-- ordered
SELECT 7 AS c, f_u8, -1 AS d FROM tracepoint:test:event GROUP BY f_u8 ORDER BY c, d DESC, f_u8 DESC;
-- row: 7 | 3 | -1
-- row: 7 | 2 | -1
-- row: 7 | 1 | -1

-- case: WHERE that is never true: nothing of the state is used
SELECT name, sum(f_s32) AS s FROM tracepoint:test:event WHERE 1 = 2 GROUP BY name;

-- case: the same, streamed
SELECT name, f_s32 FROM tracepoint:test:event WHERE f_u8 IS NULL;

-- case: a long key compared word by word
SELECT dl, f_u8, path, name, count(*) AS n FROM tracepoint:test:event
WHERE f_s32 + uid <> f_u64 - f_u64 GROUP BY dl, f_u8, path, name;
-- row: '' | 1 | 'x' | 'a' | 2
-- row: '' | 1 | 'y' | 'a' | 1
-- row: '' | 2 | 'x' | 'b' | 1
-- row: '' | 2 | 'x' | 'a' | 1

-- case: HAVING without groups
SELECT count(*) AS n FROM tracepoint:test:event HAVING count(*) > 100;

-- case: keys by alias, by number, as an expression
SELECT f_s32 % 2 AS odd, f_u16 + 1 AS k, count(*) AS n FROM tracepoint:test:event GROUP BY odd, 2;
-- row: 0 | 2 | 2
-- row: 1 | 2 | 2
-- row: 1 | 3 | 1
-- row: 0 | 3 | 1

-- case: rows of single events
SELECT f_u8, f_s32 + 1 AS x, name FROM tracepoint:test:event WHERE path = 'x';
-- row: 1 | 11 | 'a'
-- row: 2 | 8 | 'b'
-- row: 2 | 8 | 'a'
-- row: 1 | 2 | 'a'

-- case: sizes and durations are numbers
-- own: SQLite has no such literals
SELECT count(*) FILTER (WHERE f_u8 * 1KiB >= 2KiB) AS a, max(f_u8 * 1us) AS b, count(*) FILTER (WHERE f_u8 * 1ms > 1500us) AS c
FROM tracepoint:test:event;
-- row: 3 | 3000 | 3

-- case: an ungrouped column is refused
SELECT f_u8, f_s32, count(*) FROM tracepoint:test:event GROUP BY f_u8;
-- refused: ungrouped-column

-- case: (other) is given last, whatever HAVING and LIMIT say (a kernel map has other room)
-- own: SQLite has room for every group
-- max_groups: 1
-- ordered
SELECT path, f_s32 AS k, count(*) AS n, sum(f_u8) * 10 AS s FROM tracepoint:test:event GROUP BY path, f_s32 HAVING n < 1 ORDER BY n DESC WITH (state = table);
-- other: NULL | NULL | 5 | 90
-- lost: table_full=5

-- case: LIMIT counts named groups only
-- own: SQLite has room for every group
-- max_groups: 2
-- ordered
SELECT path, f_s32 AS k, count(*) AS n, sum(f_u8) * 10 AS s FROM tracepoint:test:event GROUP BY path, f_s32 ORDER BY k LIMIT 1 WITH (state = table);
-- row: 'y' | -4 | 1 | 10
-- other: NULL | NULL | 4 | 80
-- lost: table_full=4

-- case: OFFSET too
-- own: SQLite has room for every group
-- max_groups: 2
-- ordered
SELECT path, f_s32 AS k, count(*) AS n FROM tracepoint:test:event GROUP BY path, f_s32 ORDER BY k LIMIT 5 OFFSET 1 WITH (state = table);
-- row: 'x' | 10 | 1
-- other: NULL | NULL | 4
-- lost: table_full=4

-- events: beyond 64 bits signed, in the user part
-- event: f_u64=18446744073709551615 f_u8=1 f_s8=4 name='ab'
-- event: f_u64=9223372036854775808 f_u8=0 f_s8=0 name='ab'
-- event: f_u64=9223372036854775807 f_u8=3 f_s8=-7 name='abc'
-- event: f_u64=7 f_u8=0 f_s8=9 name='ab'

-- case: columns that SQLite does not compute with are exact beside those it computes
-- own: SQLite holds no u64
SELECT f_u64, upper(name) AS u FROM tracepoint:test:event;
-- row: 18446744073709551615 | 'AB'
-- row: 9223372036854775808 | 'AB'
-- row: 9223372036854775807 | 'ABC'
-- row: 7 | 'AB'

-- case: and sorted exactly
-- own: SQLite holds no u64
-- ordered
SELECT f_u64, count(*) AS n FROM tracepoint:test:event GROUP BY f_u64 HAVING n > 0 ORDER BY f_u64 DESC LIMIT 3;
-- row: 18446744073709551615 | 1
-- row: 9223372036854775808 | 1
-- row: 9223372036854775807 | 1

-- case: sums of 128 bits too, and the other way
-- own: SQLite's sums overflow
-- ordered
SELECT name, sum(f_u64) AS s, max(f_u64) AS m FROM tracepoint:test:event GROUP BY name ORDER BY s;
-- row: 'abc' | 9223372036854775807 | 9223372036854775807
-- row: 'ab' | 27670116110564327430 | 18446744073709551615

-- case: by a maximum
-- own: SQLite holds no u64
-- ordered
SELECT name, max(f_u64) AS m FROM tracepoint:test:event GROUP BY name ORDER BY m DESC;
-- row: 'ab' | 18446744073709551615
-- row: 'abc' | 9223372036854775807

-- case: what SQLite computes with it as a real
-- own: SQLite holds no u64
SELECT f_u64 / 2.0 FROM tracepoint:test:event;
-- row: 9.2233720368547758e+18
-- row: 4.6116860184273879e+18
-- row: 4.6116860184273879e+18
-- row: 3.5

-- case: what a CASE of the user part guards does not fault
-- own: the branches have one type
SELECT CASE WHEN f_u8 = 0 THEN 0.5 ELSE 12 / f_u8 END AS a FROM tracepoint:test:event;
-- row: 12.0
-- row: 0.5
-- row: 4.0
-- row: 0.5

-- case: a fault that is reached is counted
-- own: the branches have one type
SELECT CASE WHEN f_s8 < 0 THEN 0.5 ELSE 12 / f_u8 END AS a FROM tracepoint:test:event;
-- row: 12.0
-- row: NULL
-- row: 0.5
-- row: NULL
-- lost: fault=2

-- case: a column that stands twice
SELECT DISTINCT f_u8 AS a, f_u8 AS b, f_s8 AS c FROM tracepoint:test:event WHERE f_u8 > 0;
-- row: 1 | 1 | 4
-- row: 3 | 3 | -7

-- case: guarded by what only SQLite knows
SELECT CASE WHEN length(name) = 2 THEN 'two' ELSE hex(12 / f_u8) END AS a FROM tracepoint:test:event;
-- row: 'two'
-- row: 'two'
-- row: '34'
-- row: 'two'

-- case: behind AND and OR
SELECT f_u8 <> 0 AND round(12 / f_u8) > 4.0 AS a, f_u8 = 0 OR round(12 / f_u8) > 4.0 AS b FROM tracepoint:test:event;
-- row: 1 | 1
-- row: 0 | 1
-- row: 0 | 0
-- row: 0 | 1

-- case: nested
SELECT CASE WHEN f_s8 > 5 THEN 'big' WHEN f_u8 <> 0 THEN CASE WHEN f_s8 = 0 THEN 'none' ELSE hex(8 / f_s8 + 6 / f_u8) END ELSE 'zero' END AS a
FROM tracepoint:test:event;
-- row: '38'
-- row: 'zero'
-- row: '31'
-- row: 'big'

-- case: an expression over groups by itself
-- own: SQLite goes over to real numbers
SELECT max(f_u8) % 3 AS a, -max(f_u8) AS b, max(f_u8) / 0 AS c, max(f_u64) * 9223372036854775807 AS d
FROM tracepoint:test:event;
-- row: 0 | -3 | NULL | NULL
-- lost: fault=2

-- case: and beside a select
-- own: SQLite goes over to real numbers
SELECT max(f_u8) % 3 AS a, -max(f_u8) AS b, max(f_u8) / 0 AS c, max(f_u64) * 9223372036854775807 AS d, (SELECT 1) AS e
FROM tracepoint:test:event;
-- row: 0 | -3 | NULL | NULL | 1
-- lost: fault=2

-- events: nothing to divide by
-- event: f_u8=0
-- event: f_u8=5

-- case: the bits of what may be negative are signed, also where its type reaches past 2^63
-- own: SQLite's shift has 64 bits, signed
SELECT coalesce(100 / nullif(j.k, 0), -1) << 3 AS a, (coalesce(100 / nullif(j.k, 0), -1) << 3) * 1.5 AS b
FROM (SELECT f_u8 AS k, count(*) AS n FROM tracepoint:test:event GROUP BY f_u8) AS j ORDER BY a;
-- row: -8 | -12.0
-- row: 160 | 240.0

-- events: of f_u8 = 1 two starts and two ends, of 2 an end, of 3 a start
-- event: other f_u8=1 name='a' time=1000
-- event: f_u8=1 name='b' time=1001
-- event: f_u8=2 name='c' time=1002
-- event: f_u8=1 name='d' time=1003
-- event: other f_u8=3 name='e' time=1004
-- event: other f_u8=1 name='f' time=1005
-- event: f_u8=1 name='g' time=1006

-- case: a start's probe, not the end's: as a column, a key, in conditions
-- own: SQLite has neither these streams nor joins
SELECT a.name, b.probe, a.probe FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON
a.f_u8 = b.f_u8;
-- row: 'b' | 'tracepoint:test:other' | 'tracepoint:test:event'
-- row: 'd' | 'tracepoint:test:event' | 'tracepoint:test:event'
-- row: 'g' | 'tracepoint:test:other' | 'tracepoint:test:event'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (2)
-- own: SQLite has neither these streams nor joins
SELECT b.probe, count(*) FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 =
b.f_u8 GROUP BY b.probe;
-- row: 'tracepoint:test:event' | 1
-- row: 'tracepoint:test:other' | 2
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (3)
-- own: SQLite has neither these streams nor joins
SELECT b.probe, b.f_u8, count(*) FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON
a.f_u8 = b.f_u8 GROUP BY b.probe, b.f_u8;
-- row: 'tracepoint:test:event' | 1 | 1
-- row: 'tracepoint:test:other' | 1 | 2
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (4)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE b.probe LIKE '%:other';
-- row: 'b'
-- row: 'g'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (5)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE b.probe NOT LIKE '%:other';
-- row: 'd'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (6)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE b.probe GLOB '*event';
-- row: 'd'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (7)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE b.probe IN ('tracepoint:test:other', 'x');
-- row: 'b'
-- row: 'g'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (8)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE b.probe = 'tracepoint:test:event';
-- row: 'd'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (9)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE 'tracepoint:test:event' < b.probe;
-- row: 'b'
-- row: 'g'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (10)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE a.probe = b.probe;
-- row: 'd'
-- lost: unpaired=5

-- case: a start's probe, not the end's: as a column, a key, in conditions (11)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE a.probe = 'tracepoint:test:event' AND b.probe <> a.probe;
-- row: 'b'
-- row: 'g'
-- lost: unpaired=5

-- case: conditions over both sides are computed by the end, with what was stored
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE b.probe LIKE '%:other' OR a.name = 'd';
-- row: 'b'
-- row: 'd'
-- row: 'g'
-- lost: unpaired=5

-- case: conditions over both sides are computed by the end, with what was stored (2)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8
WHERE CASE WHEN a.name = 'g' THEN 0 ELSE b.probe LIKE '%r' END;
-- row: 'b'
-- lost: unpaired=5

-- case: conditions over both sides are computed by the end, with what was stored (3)
-- own: SQLite has neither these streams nor joins
SELECT count(b.probe), count(*), count(*) FILTER (WHERE b.probe LIKE '%r') FROM
tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 = b.f_u8;
-- row: 3 | 3 | 2
-- lost: unpaired=5

-- case: nULL where a LEFT join finds no partner
-- own: SQLite has neither these streams nor joins
SELECT a.name, b.probe FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON
a.f_u8 = b.f_u8;
-- row: 'b' | 'tracepoint:test:other'
-- row: 'c' | NULL
-- row: 'd' | NULL
-- row: 'g' | 'tracepoint:test:other'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (2)
-- own: SQLite has neither these streams nor joins
SELECT b.probe, count(*) FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON
a.f_u8 = b.f_u8 GROUP BY b.probe;
-- row: NULL | 2
-- row: 'tracepoint:test:other' | 2
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (3)
-- own: SQLite has neither these streams nor joins
SELECT b.probe, b.name, count(*) FROM tracepoint:test:event a LEFT PAIR JOIN
tracepoint:test:other b ON a.f_u8 = b.f_u8 GROUP BY b.probe, b.name;
-- row: NULL | NULL | 2
-- row: 'tracepoint:test:other' | 'a' | 1
-- row: 'tracepoint:test:other' | 'f' | 1
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (4)
-- own: SQLite has neither these streams nor joins
SELECT count(b.probe), count(*) FROM tracepoint:test:event a LEFT PAIR JOIN
tracepoint:test:other b ON a.f_u8 = b.f_u8;
-- row: 2 | 4
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (5)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE b.probe IS NULL;
-- row: 'c'
-- row: 'd'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (6)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE b.probe IS NOT NULL;
-- row: 'b'
-- row: 'g'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (7)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE b.probe LIKE '%other';
-- row: 'b'
-- row: 'g'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (8)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE NOT (b.probe LIKE '%x');
-- row: 'b'
-- row: 'g'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (9)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE b.probe LIKE '%other' IS NULL;
-- row: 'c'
-- row: 'd'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (10)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE b.name IN ('a', 'x') OR a.name = 'c';
-- row: 'b'
-- row: 'c'
-- lost: unpaired=1

-- case: nULL where a LEFT join finds no partner (11)
-- own: SQLite has neither these streams nor joins
SELECT a.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON a.f_u8 =
b.f_u8 WHERE b.probe IS NOT a.probe;
-- row: 'b'
-- row: 'c'
-- row: 'd'
-- row: 'g'
-- lost: unpaired=1

-- case: a branch of a union that is NULL, where the column is a text
-- own: SQLite has neither these streams nor joins
SELECT c FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM
tracepoint:test:other) u;
-- row: NULL
-- row: NULL
-- row: NULL
-- row: 'b'
-- row: 'c'
-- row: 'd'
-- row: 'g'

-- case: a branch of a union that is NULL, where the column is a text (2)
-- own: SQLite has neither these streams nor joins
SELECT c, count(*) FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM
tracepoint:test:other) u GROUP BY c;
-- row: NULL | 3
-- row: 'b' | 1
-- row: 'c' | 1
-- row: 'd' | 1
-- row: 'g' | 1

-- case: a branch of a union that is NULL, where the column is a text (3)
-- own: SQLite has neither these streams nor joins
SELECT count(*), count(c) FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT
NULL FROM tracepoint:test:other) u;
-- row: 7 | 4

-- case: a branch of a union that is NULL, where the column is a text (4)
-- own: SQLite has neither these streams nor joins
SELECT c FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM
tracepoint:test:other) u WHERE c > 'c' OR c IS NULL;
-- row: NULL
-- row: NULL
-- row: NULL
-- row: 'd'
-- row: 'g'

-- case: a branch of a union that is NULL, where the column is a text (5)
-- own: SQLite has neither these streams nor joins
SELECT c FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM
tracepoint:test:other) u WHERE c LIKE 'b%' OR c IN ('d', 'e');
-- row: 'b'
-- row: 'd'

-- case: a branch of a union that is NULL, where the column is a text (6)
-- own: SQLite has neither these streams nor joins
SELECT count(*) FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM
tracepoint:test:other) u WHERE c IS NOT 'd';
-- row: 6

-- case: a branch of a union that is NULL, where the column is a text (7)
-- own: SQLite has neither these streams nor joins
SELECT count(*) FROM (SELECT name AS c FROM tracepoint:test:event UNION ALL SELECT NULL FROM
tracepoint:test:other) u WHERE (c LIKE 'b%') IS NULL;
-- row: 3

-- case: which branch a start is of only the start knows; without one a constant is NULL too
-- own: SQLite has neither these streams nor joins
SELECT a.name, u.c FROM tracepoint:test:event a LEFT PAIR JOIN (SELECT f_u8, 'x' AS c FROM
tracepoint:test:other UNION ALL SELECT f_u8, NULL FROM tracepoint:test:event) u ON a.f_u8 =
u.f_u8;
-- row: 'b' | 'x'
-- row: 'c' | NULL
-- row: 'd' | NULL
-- row: 'g' | 'x'
-- lost: unpaired=4

-- case: which branch a start is of only the start knows; without one a constant is NULL too (2)
-- own: SQLite has neither these streams nor joins
SELECT a.name, u.n + 1 FROM tracepoint:test:event a LEFT PAIR JOIN (SELECT f_u8, 7 AS n FROM
tracepoint:test:other UNION ALL SELECT f_u8, f_u16 FROM tracepoint:test:event) u ON a.f_u8 =
u.f_u8;
-- row: 'b' | 8
-- row: 'c' | NULL
-- row: 'd' | 1
-- row: 'g' | 8
-- lost: unpaired=4

-- case: conditions in ON that are no keys
-- own: SQLite has neither these streams nor joins
SELECT a.name, b.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 =
b.f_u8 AND b.name = 'a';
-- row: 'b' | 'a'
-- lost: unpaired=3

-- case: conditions in ON that are no keys (2)
-- own: SQLite has neither these streams nor joins
SELECT a.name, b.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:* b ON a.f_u8 =
b.f_u8 AND 'd' = a.name;
-- row: 'd' | 'b'
-- lost: unpaired=6

-- case: conditions in ON that are no keys (3)
-- own: SQLite has neither these streams nor joins
SELECT a.name, b.name FROM tracepoint:test:event a LEFT PAIR JOIN tracepoint:test:other b ON
a.f_u8 = b.f_u8 AND b.name = 'a';
-- row: 'b' | 'a'
-- row: 'c' | NULL
-- row: 'd' | NULL
-- row: 'g' | NULL

-- events: what does not join is asked for nothing more
-- event: f_u8=2
-- event: other f_u8=1 f_s8=0

-- case: WHERE behind ON
-- own: SQLite has neither these streams nor joins
SELECT b.k, b.d FROM (SELECT f_s8, max(f_u8) AS m FROM tracepoint:test:event GROUP BY f_s8) AS a
JOIN (SELECT f_u8 AS k, 10 % f_s8 AS d FROM tracepoint:test:other) AS b ON a.m = b.k + 1
WHERE b.d <= a.m;
-- lost: fault=1

-- case: WHERE behind ON (2)
-- own: SQLite has neither these streams nor joins
SELECT b.k, b.d FROM (SELECT f_s8, max(f_u8) AS m FROM tracepoint:test:event GROUP BY f_s8) AS a
JOIN (SELECT f_u8 AS k, 10 % f_s8 AS d FROM tracepoint:test:other) AS b ON a.m = b.k + 7
WHERE b.d <= a.m;
-- lost: fault=0

-- events: columns that two sides have in common
-- event: other f_u8=2 f_s32=200 pid=7 name='c' time=1000
-- event: f_u8=1 f_s32=10 pid=7 name='a' time=1001
-- event: f_u8=2 f_s32=20 pid=7 name='b' time=1002
-- event: other f_u8=3 f_s32=300 pid=9 name='b' time=1003

-- case: USING: the shared column is one
-- own: SQLite has no such streams
SELECT f_u8, a.f_s32 AS x, b.f_s32 AS y FROM tracepoint:test:event a
JOIN tracepoint:test:other b USING (f_u8);
-- row: 2 | 20 | 200

-- case: USING of what every event has
-- own: SQLite has no such streams
SELECT pid, a.f_s32 AS x, b.f_s32 AS y FROM tracepoint:test:event a
FULL JOIN tracepoint:test:other b USING (pid);
-- row: 7 | 10 | 200
-- row: 7 | 20 | 200
-- row: 9 | NULL | 300

-- case: RIGHT JOIN: the shared column is the right side's where the left has none
-- own: SQLite has no such streams
SELECT f_u8, a.f_u8 AS l, a.f_s32 AS x, b.f_s32 AS y FROM tracepoint:test:event a
RIGHT JOIN tracepoint:test:other b USING (f_u8);
-- row: 2 | 2 | 20 | 200
-- row: 3 | NULL | NULL | 300

-- case: FULL JOIN: of the side that has it
-- own: SQLite has no such streams
SELECT f_u8, a.f_s32 AS x, b.f_s32 AS y FROM tracepoint:test:event a
FULL OUTER JOIN tracepoint:test:other b USING (f_u8);
-- row: 1 | 10 | NULL
-- row: 2 | 20 | 200
-- row: 3 | NULL | 300

-- case: WHERE is behind the join, ON is of it
-- own: SQLite has no such streams
SELECT a.f_u8 AS l, b.f_u8 AS r FROM tracepoint:test:event a
FULL JOIN tracepoint:test:other b ON a.f_u8 = b.f_u8 AND a.f_s32 > 100
WHERE a.f_u8 IS NULL OR a.f_u8 > 1;
-- row: 2 | NULL
-- row: NULL | 2
-- row: NULL | 3

-- case: what a side computes is NULL without it, a constant too
-- own: SQLite has no such streams
SELECT k, x, y FROM (SELECT f_u8 AS k, 1 AS x FROM tracepoint:test:event) a
FULL JOIN (SELECT f_u8 AS k, coalesce(f_s32, 5) > 0 AS y FROM tracepoint:test:other) b USING (k);
-- row: 1 | 1 | NULL
-- row: 2 | 1 | 1
-- row: 3 | NULL | 1

-- case: three sides, and * has the column once
-- own: SQLite has no such streams
SELECT * FROM (SELECT f_u8 AS k, count(*) AS x FROM tracepoint:test:event GROUP BY f_u8) a
FULL JOIN (SELECT f_u8 AS k, sum(f_s32) AS y FROM tracepoint:test:other GROUP BY f_u8) b USING (k)
FULL JOIN (SELECT f_u8 + 1 AS k, max(f_s32) AS z FROM tracepoint:test:other GROUP BY f_u8) c USING (k);
-- row: 1 | 1 | NULL | NULL
-- row: 2 | 1 | 200 | NULL
-- row: 3 | NULL | 300 | 200
-- row: 4 | NULL | NULL | 300

-- case: NATURAL JOIN goes by the names that both have
-- own: SQLite has no such streams
SELECT * FROM (SELECT f_u8 AS k, f_s32 AS x FROM tracepoint:test:event) AS a
NATURAL LEFT JOIN (SELECT f_u8 AS k, f_s32 AS y FROM tracepoint:test:other) AS b;
-- row: 1 | 10 | NULL
-- row: 2 | 20 | 200

-- case: RIGHT JOIN of a join: its members stay in their order
-- own: SQLite has no such streams
SELECT * FROM (SELECT f_u8 AS k, f_s32 AS x FROM tracepoint:test:event) AS a
JOIN (SELECT f_u8 AS k, pid AS p FROM tracepoint:test:event) AS c USING (k)
RIGHT JOIN (SELECT f_u8 AS k, f_s32 AS y FROM tracepoint:test:other) AS b USING (k);
-- row: 2 | 20 | 7 | 200
-- row: 3 | NULL | NULL | 300

-- case: groups by the shared column
-- own: SQLite has no such streams
SELECT f_u8, count(*) AS n, sum(b.f_s32) AS y FROM tracepoint:test:event a
FULL JOIN tracepoint:test:other b USING (f_u8) GROUP BY f_u8 HAVING f_u8 > 1;
-- row: 2 | 1 | 200
-- row: 3 | 1 | 300

-- case: PAIR JOIN by USING
-- own: SQLite has neither these streams nor joins
SELECT f_u8, a.name, b.name FROM tracepoint:test:event a PAIR JOIN tracepoint:test:other b USING (f_u8);
-- row: 2 | 'b' | 'c'
-- lost: unpaired=2

-- case: ASOF JOIN by USING: its last column is the time
-- own: SQLite has neither these streams nor joins
SELECT f_u8, a.name, b.name FROM tracepoint:test:event a ASOF JOIN tracepoint:test:other b USING (f_u8, time);
-- row: 2 | 'b' | 'c'
-- lost: unpaired=1

-- case: ASOF JOIN by USING, without the time
-- refused: bad-join
SELECT pid FROM tracepoint:test:other a ASOF JOIN tracepoint:test:event b USING (pid);

-- case: NATURAL JOIN of events would ask for those of one instant
-- refused: bad-join
SELECT 1 FROM tracepoint:test:event a NATURAL JOIN tracepoint:test:other b;

-- case: the first and the last of rows of which either side made some
-- own: SQLite has neither these streams nor first()
SELECT first(coalesce(a.f_s32, b.f_s32)) AS f, last(f_u8) AS l, first(7) AS c FROM tracepoint:test:event a
FULL JOIN tracepoint:test:other b USING (f_u8);
-- row: 10 | 3 | 7

-- case: conditions of rows and truths, in the kernel
-- own: SQLite has no such streams
SELECT f_u8, f_s32, (f_u8, f_s32) = (2, 20) AS e FROM tracepoint:test:event
WHERE (f_u8, name) IN ((1, 'a'), (2, 'b'), (3, 'a')) AND f_s32 IS TRUE AND (f_u8 = 7) IS NOT TRUE
AND f_u8 IN (VALUES (1), (2)) AND (pid, f_u8) <> (7, 1);
-- row: 2 | 20 | 1

-- case: VALUES beside a stream, its columns named
-- own: SQLite has no such streams
SELECT v.meaning, count(*) AS n FROM tracepoint:test:event a
JOIN (VALUES (1, 'one'), (2, 'two'), (3, 'three')) AS v (f_u8, meaning) USING (f_u8) GROUP BY v.meaning;
-- row: 'one' | 1
-- row: 'two' | 1

-- case: columns behind a name of WITH, read twice
-- own: SQLite has no such streams
WITH g (k, n) AS (SELECT f_u8, sum(f_s32) FROM tracepoint:test:event GROUP BY f_u8)
SELECT a.k, a.n + b.n AS s FROM g AS a JOIN g AS b ON b.k = a.k;
-- row: 1 | 20
-- row: 2 | 40

-- case: columns behind a name of WITH that the kernel computes
-- own: SQLite has no such streams
WITH e (k, x) AS (SELECT f_u8, f_s32 * 2 FROM tracepoint:test:event) SELECT sum(x) AS s, max(k) AS k FROM e;
-- row: 60 | 2

-- case: a named window beside the stream's own
-- own: SQLite has no such streams
SELECT f_u8, rank() OVER w AS r, lag(f_u8) OVER w AS l FROM tracepoint:test:event
GROUP BY f_u8 WINDOW w AS (ORDER BY sum(f_s32) DESC) WINDOW TUMBLING 1s;
-- row: 2 | 1 | NULL
-- row: 1 | 2 | 2
