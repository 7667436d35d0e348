SELECT max(x.p) AS most, hex(min(x.p)) AS digits, sum(x.p) AS all_of_them, count(DISTINCT x.p) AS n FROM (SELECT key, p50(prio) AS p FROM 'begins.jsonl' GROUP BY key) AS x
-- check: none, rows by hand
