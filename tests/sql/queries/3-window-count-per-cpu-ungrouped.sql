SELECT count(*) AS m, sum(n) AS s, min(time) AS t FROM 'events.jsonl' WINDOW COUNT (SIZE 8) PER CPU
-- flat: sorted
-- sqlite: SELECT count(*) AS m, sum(n) AS s, min(time) AS t FROM (SELECT *, (row_number() OVER (PARTITION BY cpu ORDER BY time) - 1) / 8 AS w FROM events) GROUP BY cpu, w
