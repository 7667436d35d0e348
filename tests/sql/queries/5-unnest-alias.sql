SELECT UNNEST(histogram(n, linear(-50, 50, 25))) AS h, count(*) AS n FROM 'events.jsonl'
-- sqlite: SELECT json_extract(c.value, '$[0]') AS lo, json_extract(c.value, '$[1]') AS hi, json_extract(c.value, '$[2]') AS count, x.n FROM (SELECT hist(n, 'linear(-50, 50, 25)') AS h, count(*) AS n FROM events) AS x, json_each(x.h, '$.cells') AS c ORDER BY c.id
