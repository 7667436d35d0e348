SELECT "count" AS c, "time" AS t FROM 'reads.jsonl' LIMIT 3
