SELECT key IN (SELECT key FROM 'begins.jsonl' WHERE key > 2) AS k, count(*) AS n FROM 'ends.jsonl' GROUP BY key IN (SELECT key FROM 'begins.jsonl' WHERE key > 2) ORDER BY 1
