-- check: none, the key of a group is known again in the items
SELECT key + (SELECT min(key) FROM 'begins.jsonl') AS k, count(*) AS n FROM 'ends.jsonl' GROUP BY k ORDER BY k
