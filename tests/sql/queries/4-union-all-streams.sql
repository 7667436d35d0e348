SELECT what, count(*) AS m FROM (SELECT time, 'begin' AS what FROM 'begins.jsonl' UNION ALL SELECT time, 'end' FROM 'ends.jsonl') AS x GROUP BY what WINDOW TUMBLING 1s ORDER BY what
