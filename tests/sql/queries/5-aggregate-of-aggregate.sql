SELECT max(count(*)) FROM 'events.jsonl' GROUP BY pid
