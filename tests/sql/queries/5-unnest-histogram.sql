SELECT k, UNNEST(histogram(bytes)) FROM 'events.jsonl' GROUP BY k HAVING k < 'c' ORDER BY count(*), k
