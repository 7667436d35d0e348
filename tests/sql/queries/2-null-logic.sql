SELECT n IS NULL AS is_null, (n > 0 AND k = 'alpha') AS both, (n > 0 OR k = 'alpha') AS one, NOT (n > 0) AS none FROM 'events.jsonl' WHERE cpu = 1
