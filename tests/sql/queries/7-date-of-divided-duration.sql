-- check: none, what is divided is of seconds, and is not warned of
-- options: -o csv
SELECT strftime('%H:%M', 3600s / 1000000000, 'unixepoch') AS a, datetime(max(n * 1s / 1000000000), 'unixepoch') AS b, datetime(max(n * 1s) / 1000000000 + 60, 'unixepoch') AS c, date(10s, 'unixepoch') AS d, date(max(s), 'unixepoch') AS e FROM (SELECT n, n * 1s / 1000000000 AS s FROM 'events.jsonl')
