SELECT * FROM t:a:b AS a LEFT PAIR JOIN t:a:c AS b ON a.k = b.k WITHIN 10s
