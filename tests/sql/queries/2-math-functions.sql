SELECT DISTINCT bytes, sqrt(bytes) AS root, pow(bytes, 2) AS square, floor(r) AS f, ceil(r) AS c FROM 'events.jsonl' WHERE cpu = 1 AND pid = 102 ORDER BY bytes, f
