ATTACH 'ref.db' AS r;
SELECT e.k, count(*) AS m FROM 'events.jsonl' AS e JOIN r.limits AS l ON e.k = l.k WHERE e.n > l.most GROUP BY e.k ORDER BY e.k
