SELECT * FROM t:a:b AS a ASOF LEFT JOIN t:a:c AS b ON a.k = b.k AND a.time >= b.time LEFT OUTER ASOF JOIN t:a:d AS c ON c.k = b.k
