SELECT count(*) FROM t:a:b WINDOW SLIDING 1s HAVING count(*) > 1
