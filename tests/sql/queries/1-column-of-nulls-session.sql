SELECT n, k, count(*) AS c FROM 'none.csv' WHERE n IS NULL OR n > k GROUP BY n, k WINDOW SESSION 1us
