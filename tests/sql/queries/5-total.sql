SELECT total(n) AS t, total(r) AS z FROM 'events.jsonl' WHERE n > 1000 OR k = 'beta'
