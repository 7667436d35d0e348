SELECT DISTINCT s FROM 'events.jsonl' WHERE s GLOB '*[A-Z]*' OR s GLOB 'a?b' ORDER BY s
