SELECT cpu, count(DISTINCT k) AS ks, sum(DISTINCT bytes) AS b FROM 'events.jsonl' GROUP BY cpu WINDOW TUMBLING 10s ORDER BY cpu
