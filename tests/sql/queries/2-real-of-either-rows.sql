-- check: none, SQLite keeps whole numbers among REALs
SELECT n, iif(ok, n, 0.5) / 2 AS h, typeof(coalesce(n, r)) AS t, min(n, 1.5) / 2 AS m, coalesce(9223372036854775807, 0.5) * 3 AS x, coalesce(max(d, 1.5), 1us) AS u, nullif(n, 1.0) / 2 AS f FROM 'events.jsonl' WHERE coalesce(n, 0.5) / 2 > 3.4
