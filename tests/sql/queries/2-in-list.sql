SELECT count(*) AS n FROM 'events.jsonl' WHERE pid IN (100, 103) AND k NOT IN ('alpha', 'beta')
