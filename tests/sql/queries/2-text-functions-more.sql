SELECT DISTINCT k, quote(k) AS q, unicode(k) AS c, typeof(k) AS t, printf('%s|%5d|', k, pid) AS p, substring(k, -2) AS tail, char(65, 66) AS ab FROM 'events.jsonl' WHERE pid = 100 ORDER BY k
