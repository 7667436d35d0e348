SELECT count(*) AS m, sum(n) AS s FROM 'far.csv' WINDOW TUMBLING 1s
