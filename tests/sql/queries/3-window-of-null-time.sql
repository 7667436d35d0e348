SELECT count(*) FROM 'null-time.csv' WINDOW TUMBLING 1s
