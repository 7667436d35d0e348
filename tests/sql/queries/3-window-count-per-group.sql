SELECT k, count(*) AS m, sum(n) AS s, min(time) AS t FROM 'events.jsonl' GROUP BY k WINDOW COUNT (SIZE 6) PER GROUP
-- flat: sorted
-- sqlite: SELECT k, count(*) AS m, sum(n) AS s, min(time) AS t FROM (SELECT *, (row_number() OVER (PARTITION BY k ORDER BY time) - 1) / 6 AS w FROM events) GROUP BY k, w
