SELECT count(*) FROM iter:task WINDOW SESSION 1s
