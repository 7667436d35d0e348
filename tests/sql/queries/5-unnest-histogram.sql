SELECT k, UNNEST(histogram(bytes)) FROM 'events.jsonl' GROUP BY k HAVING k < 'c' ORDER BY count(*), k
-- sqlite: SELECT k, json_extract(c.value, '$[0]') AS lo, json_extract(c.value, '$[1]') AS hi, json_extract(c.value, '$[2]') AS count FROM (SELECT k, count(*) AS n, hist(bytes, 'log2') AS h FROM events WHERE k < 'c' GROUP BY k) AS x, json_each(x.h, '$.cells') AS c ORDER BY x.n, k, c.id
