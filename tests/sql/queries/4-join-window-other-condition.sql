SELECT count(*) AS m FROM 'ends.jsonl' AS e JOIN 'begins.jsonl' AS b ON e.time > b.time AND e.key <> b.key WINDOW TUMBLING 500ms
