SELECT first(x) AS f, last(x) AS l FROM (SELECT time, x, r FROM 'mixed.jsonl') AS q
