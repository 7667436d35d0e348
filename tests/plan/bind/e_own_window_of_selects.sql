SELECT max(n) FROM (SELECT pid, count(*) AS n FROM 'data/reads.csv' GROUP BY pid) WINDOW SESSION 1ms
