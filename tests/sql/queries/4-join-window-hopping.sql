SELECT count(*) AS m FROM 'ends.jsonl' AS e JOIN 'begins.jsonl' AS b ON e.key = b.key WINDOW HOPPING 1s BY 400ms
