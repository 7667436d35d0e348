SELECT k, count(*) AS n FROM 'header.csv' WHERE name <> 'x' GROUP BY k WINDOW TUMBLING 1s
