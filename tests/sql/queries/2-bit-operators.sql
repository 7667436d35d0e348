SELECT bytes & 4095 AS a, bytes | 1 AS b, ~bytes AS c, bytes << 3 AS d, bytes >> 2 AS e FROM 'events.jsonl' WHERE cpu = 1 LIMIT 9
