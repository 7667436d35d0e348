-- options: -o table
-- check: none, no window, and not one of 1970
SELECT k, count(*) AS n FROM 'header.csv' GROUP BY k WINDOW TUMBLING 1s
