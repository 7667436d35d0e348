SELECT 1 WHERE (1, 2) = (1, 3, 4)
