SELECT count(*) FILTER (WHERE s GLOB 'tcp') AS low, count(*) FILTER (WHERE s GLOB 'TCP') AS high, count(*) FILTER (WHERE s LIKE 'tcp') AS any FROM 'events.jsonl'
