-- check: none, SQLite knows no durations
-- options: -o csv
SELECT k, CAST('1s' AS DURATION) AS a, '-1.5 ms'::DURATION AS b, CAST(v || '' AS DURATION) AS c, (abs(v) || 'us')::DURATION * 2 AS d, CASE WHEN v = 2 THEN CAST(k AS DURATION) END AS e, CAST(1.7 AS DURATION) AS f FROM (VALUES ('x', 1), ('3 seconds', 2), (NULL, NULL)) AS t(k, v) WHERE '12'::DURATION = 12ns
