SELECT (a, b) FROM s
