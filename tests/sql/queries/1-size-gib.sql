SELECT count(*) AS n FROM 'events.jsonl' WHERE bytes * 1TiB >= 16 * 1TiB AND bytes < 1GiB
