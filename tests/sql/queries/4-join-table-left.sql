SELECT e.k, t.name, count(*) AS m FROM 'events.jsonl' AS e LEFT JOIN 'names.csv' AS t ON e.k = t.key GROUP BY e.k, t.name ORDER BY e.k
