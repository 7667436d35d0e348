-- check: none, rows by hand; what is a REAL is rounded once, whole numbers stay as they are
SELECT u, round(u) AS round, ceil(u) AS ceil, floor(u) AS floor, sign(u) AS sign, sqrt(u) AS sqrt,
  log2(u) AS log2, substr('abc', u) AS behind, char(u) AS none, syscall_name(u) AS name,
  date(u) AS day
FROM 'extremes.jsonl' WHERE u > 9223372036854775806
