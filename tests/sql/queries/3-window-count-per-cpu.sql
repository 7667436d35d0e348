SELECT cpu, count(*) AS m, sum(n) AS s, min(time) AS t FROM 'events.jsonl' GROUP BY cpu WINDOW COUNT (SIZE 8) PER CPU
-- flat: sorted
-- sqlite: SELECT cpu, count(*) AS m, sum(n) AS s, min(time) AS t FROM (SELECT *, (row_number() OVER (PARTITION BY cpu ORDER BY time) - 1) / 8 AS w FROM events) GROUP BY cpu, w
