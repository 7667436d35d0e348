SELECT count(*) FROM 'events.jsonl' WHERE k = alpha OR k IN ("beta", 'gamma')
