-- check: none, a count is no truth and no duration; 0 beside a duration is one
SELECT iif(count(*) > 1, 7, max(cpu = 1)) AS i, coalesce(max(d), count(*)) AS n, CASE WHEN count(*) > 3 THEN max(d) ELSE 0 END AS d, iif(count(*) > 1, max(d), 1.5) AS r FROM 'events.jsonl'
