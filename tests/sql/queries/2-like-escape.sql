SELECT count(*) FILTER (WHERE s LIKE 'a\_b' ESCAPE '\') AS under, count(*) FILTER (WHERE s LIKE '%!%' ESCAPE '!') AS percent FROM 'events.jsonl'
