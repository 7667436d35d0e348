-- options: -o csv
-- check: none, the bytes of the format: window bounds in front, quotes, an empty cell for NULL and "" for the empty text
SELECT s, count(*) AS n FROM 'events.jsonl' WHERE pid = 100 GROUP BY s WINDOW TUMBLING 10s ORDER BY s
