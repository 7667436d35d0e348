-- sqlite: SELECT pid, comm, count(*) AS n, ladder(latency, '0.5 0.99 0.999', 'exponential(3)') AS l FROM reads GROUP BY pid, comm HAVING n > 10 ORDER BY n DESC
SELECT pid, comm, count(*) AS n, quantiles(latency, 0.5, 0.99, 0.999) AS l FROM 'reads.jsonl'
GROUP BY pid, comm WINDOW TUMBLING 1s HAVING n > 10 ORDER BY n DESC
