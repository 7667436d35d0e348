DROP VIEW raeds;
SELECT count(*) FROM 'events.jsonl'
