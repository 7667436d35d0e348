WITH a AS (SELECT pid, max(n) AS hi FROM 'events.jsonl' GROUP BY pid)
SELECT x.pid, y.pid AS other, x.hi - y.hi AS more FROM a AS x JOIN a AS y ON x.hi > y.hi ORDER BY 1, 2
