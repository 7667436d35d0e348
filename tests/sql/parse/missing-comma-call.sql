SELECT f(a b) FROM s GROUP BY a b
