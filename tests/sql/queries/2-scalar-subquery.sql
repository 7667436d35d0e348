SELECT k, sum(n) AS s, (SELECT max(n) FROM 'events.jsonl') AS most FROM 'events.jsonl' GROUP BY k ORDER BY k
