SELECT pid, count(*) FROM t:a:b GROUP BY ALL HAVING count(*) > 1
