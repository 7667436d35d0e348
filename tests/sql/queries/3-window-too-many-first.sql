-- options: -n 2
-- check: none, of 1,700,000,000 windows the first two
SELECT count(*) AS m, sum(n) AS s FROM 'far.csv' WINDOW TUMBLING 1s
