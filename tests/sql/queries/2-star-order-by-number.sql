SELECT * FROM (SELECT cpu, count(*) AS n FROM 'events.jsonl' GROUP BY cpu) AS u ORDER BY 2 DESC, 1
