SELECT histogram(d) FILTER (WHERE cpu = 0) AS zero, histogram(d) FILTER (WHERE cpu = 1) AS one FROM 'events.jsonl'
-- sqlite: SELECT hist(d, 'log2') FILTER (WHERE cpu = 0) AS zero, hist(d, 'log2') FILTER (WHERE cpu = 1) AS one FROM events
