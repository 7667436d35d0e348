WITH run_queue AS (SELECT 1 AS c) SELECT e.cpu, count(*) AS n FROM 'mixed.jsonl' AS e, run_queue AS q GROUP BY 1 WINDOW TUMBLING 1s
