SELECT a IN (1, 2, 3), a NOT IN ('x'), a IN (), a IN (SELECT b FROM s), a NOT IN (SELECT b FROM s), a IN ((SELECT b FROM s))
