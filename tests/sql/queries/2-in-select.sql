SELECT count(*) AS n FROM 'events.jsonl' WHERE k IN (SELECT key FROM 'names.csv' WHERE weight >= 2)
