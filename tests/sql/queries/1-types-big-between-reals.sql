SELECT count(*) AS n FROM 'mixed.jsonl' WHERE u BETWEEN 1.5 AND 9.3e18
