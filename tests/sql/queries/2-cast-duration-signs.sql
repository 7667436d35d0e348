-- check: none, SQLite knows no durations
SELECT CAST(char(9) || '+1s' || char(10) AS DURATION) AS a, CAST('-2 seconds ' || char(13) AS DURATION) AS b, CAST('1e3s' || trim(' ') AS DURATION) AS c, CAST('+ 1s' || trim(' ') AS DURATION) AS d, CAST('-9223372036854775808ns' AS DURATION) AS e, CAST('9223372036854775808ns' || trim(' ') AS DURATION) AS f FROM 'events.jsonl' WHERE k = 'beta' AND n = 26
