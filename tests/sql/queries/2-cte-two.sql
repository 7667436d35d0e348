WITH a AS (SELECT cpu, count(*) AS m FROM 'events.jsonl' GROUP BY cpu), b AS (SELECT max(m) AS most FROM a)
SELECT a.cpu, a.m FROM a JOIN b ON a.m = b.most ORDER BY a.cpu
