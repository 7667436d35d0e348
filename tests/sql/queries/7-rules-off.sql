SET rules_off = 'all';
SELECT cpu, count(*) AS m FROM 'events.jsonl' WHERE 1 + 1 = 2 AND n > 0 GROUP BY cpu ORDER BY cpu
