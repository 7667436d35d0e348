SELECT s, count(*) AS n FROM 'events.jsonl' WHERE s LIKE '100!%' ESCAPE '!' AND n IS NOT NULL GROUP BY s
