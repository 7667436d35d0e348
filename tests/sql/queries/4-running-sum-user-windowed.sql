SELECT max(s) FROM (SELECT sum(key) OVER (PARTITION BY upper(id)) AS s FROM 'ends.jsonl') AS q WINDOW TUMBLING 1s
