SELECT count(*) FROM t:a:b WHERE pid = 1 HOPPING 10s BY 1s
