SELECT comm, count(*), max(size) FROM 'data/reads.csv' GROUP BY comm WINDOW TUMBLING 1s
