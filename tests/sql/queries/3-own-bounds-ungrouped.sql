SELECT count(*) AS n, window_start FROM 'events.jsonl' AS a JOIN 'bounds.csv' AS b USING (k) WINDOW TUMBLING 1s
