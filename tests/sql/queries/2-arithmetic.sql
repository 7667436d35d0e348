SELECT n, n + 1 AS a, n - 7 AS b, n * 3 AS c, n / 4 AS d, n % 4 AS e, -n AS f FROM 'events.jsonl' WHERE pid = 101
