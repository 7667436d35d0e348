SELECT count(*) FROM 'events.jsonl' WHERE s GLOB 'a*' ESCAPE '!'
