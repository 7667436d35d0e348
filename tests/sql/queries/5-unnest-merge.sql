SELECT UNNEST(histogram_merge(h)) FROM (SELECT k, histogram(n, linear(-50, 50, 25)) AS h FROM 'events.jsonl' GROUP BY k)
