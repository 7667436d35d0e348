-- check: none, rows by hand
SELECT u, lag(u) OVER (ORDER BY u) AS before, first_value(u) OVER (ORDER BY u DESC) AS largest,
  nth_value(u, 2) OVER (ORDER BY u DESC) AS second
FROM 'extremes.jsonl' WHERE u > 9223372036854775806 ORDER BY u
