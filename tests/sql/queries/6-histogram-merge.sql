SELECT histogram_merge(h) AS h, count(*) AS groups FROM (SELECT pid, histogram(d) AS h FROM 'events.jsonl' GROUP BY pid) AS x
-- sqlite: SELECT hist(d, 'log2') AS h, count(DISTINCT pid) AS groups FROM events
