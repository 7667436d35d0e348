-- sqlite: SELECT count(*) AS n FROM events WHERE d < 1000000000 AND d >= 2 * 1000000
SELECT count(*) AS n FROM 'events.jsonl' WHERE d < INTERVAL '1' SECOND AND d >= INTERVAL '2' MILLISECOND
