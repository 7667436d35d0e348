-- sqlite: SELECT count / 1024 AS kib, hist(latency, 'log2') AS h FROM reads GROUP BY kib ORDER BY kib
SELECT count / 1KiB AS kib, histogram(latency) AS h FROM 'reads.jsonl' GROUP BY kib ORDER BY kib
