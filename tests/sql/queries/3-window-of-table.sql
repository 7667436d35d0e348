SELECT count(*) FROM 'names.csv' WINDOW TUMBLING 1s
