SELECT UNNEST(histogram(n, bounds(0, 10))) FROM 'events.jsonl'
-- sqlite: SELECT json_extract(c.value, '$[0]') AS lo, json_extract(c.value, '$[1]') AS hi, json_extract(c.value, '$[2]') AS count FROM (SELECT hist(n, 'bounds(0, 10)') AS h FROM events) AS x, json_each(x.h, '$.cells') AS c ORDER BY c.id
