-- A duration times a REAL, and a mean of durations, are shown as durations.
SELECT avg(d) AS mean, avg(d) * 2 AS twice, 1.5 * max(d) AS more, avg(d) / 1ms AS plain,
CASE WHEN max(d) > 0 THEN avg(d) ELSE 0 END AS branch, stddev_pop(d) AS spread FROM 'events.jsonl'
