-- check: none, SQLite keeps whole numbers among REALs
SELECT k, coalesce(sum(n), 0.0) / count(*) AS a, typeof(coalesce(sum(n), 0.0)) AS t, coalesce(sum(n), 0.0) || '' AS s, max(count(*), 1.5) / 2 AS m, iif(count(*) > 3, count(*), 0.5) / 2 AS i, CASE WHEN count(*) > 3 THEN count(*) WHEN count(*) > 2 THEN NULL ELSE 1.5 END / 2 AS c FROM 'events.jsonl' GROUP BY k ORDER BY k
