SELECT nr, count(*) AS n FROM 'calls.csv' GROUP BY nr ORDER BY nr OFFSET 2
