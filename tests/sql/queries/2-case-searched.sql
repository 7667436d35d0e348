SELECT CASE WHEN n < 0 THEN 'minus' WHEN n > 0 THEN 'plus' ELSE 'neither' END AS sign, count(*) AS m FROM 'events.jsonl' GROUP BY 1 ORDER BY 1
