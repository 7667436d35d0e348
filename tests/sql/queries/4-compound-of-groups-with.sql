WITH u AS (SELECT cpu AS k, count(*) AS n FROM 'events.jsonl' GROUP BY cpu UNION SELECT pid, count(*) FROM 'events.jsonl' GROUP BY pid) SELECT k, n FROM u ORDER BY 1, 2 DESC
