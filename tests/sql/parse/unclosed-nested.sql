SELECT (a + (b * c) FROM s; SELECT 1
