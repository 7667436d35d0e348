-- check: none, both arms: counts by hand
SELECT * FROM (SELECT 'e' AS k, count(*) AS n FROM 'ends.jsonl' UNION ALL SELECT 'b', count(*) FROM 'begins.jsonl') AS u
