SELECT 'cpu' AS what, cpu AS x, count(*) AS m FROM 'events.jsonl' GROUP BY cpu UNION ALL SELECT 'pid', pid, count(*) FROM 'events.jsonl' GROUP BY pid ORDER BY 1, 2
