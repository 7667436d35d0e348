SELECT e.count AS size, e.fd AS pair FROM 'reads.jsonl' AS e WHERE count = 512 LIMIT 2
