SELECT * EXCLUDE (k) FROM t:a:b WHERE pid = 1
