SET pushdown = off; SELECT comm, UNNEST(histogram(latency)) AS h FROM syscall:read GROUP BY comm ORDER BY count(*) DESC WINDOW TUMBLING 1s LIMIT 20 OFFSET 5
