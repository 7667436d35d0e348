SELECT cpu, count(*) AS n FROM 'events.jsonl' GROUP BY cpu WHERE n == 0 OR n > 0 ORDER BY cpu;
