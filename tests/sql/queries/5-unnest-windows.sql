SELECT UNNEST(histogram(n, linear(-50, 50, 50))) FROM 'events.jsonl' WINDOW TUMBLING 10s
-- sqlite: SELECT json_extract(c.value, '$[0]') AS lo, json_extract(c.value, '$[1]') AS hi, json_extract(c.value, '$[2]') AS count FROM (SELECT hist(n, 'linear(-50, 50, 50)') AS h FROM events) AS x, json_each(x.h, '$.cells') AS c ORDER BY c.id
