SELECT count(*) AS m, sum(e.time - b.time) AS total FROM 'ends.jsonl' AS e PAIR JOIN 'begins.jsonl' AS b ON e.key = b.key WINDOW TUMBLING 500ms
-- sqlite: SELECT count(*) AS m, sum(took) AS total FROM pairs
