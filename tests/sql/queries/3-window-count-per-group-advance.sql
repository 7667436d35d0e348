SELECT pid, count(*) AS m, sum(n) AS s, min(time) AS t FROM 'events.jsonl' GROUP BY pid WINDOW COUNT (SIZE 8 PER GROUP, ADVANCE BY 4)
-- check: counts
