SELECT DISTINCT s FROM 'events.jsonl' WHERE s = 'it''s' OR s = '' ORDER BY s
