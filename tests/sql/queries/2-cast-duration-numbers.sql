-- check: none, SQLite knows no durations
-- options: -o csv
SELECT k, CAST(k AS DURATION) AS d, CAST(k AS INTEGER) AS i FROM (VALUES ('12'), ('1e3'), ('-1.7'), ('.5'), (''), ('-9223372036854775808'), ('9999999999999999999999')) AS t(k)
