SELECT f(a, ) FROM s
