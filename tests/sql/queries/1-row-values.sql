-- tables only
SELECT a, b, (a, b) = (1, 2) AS e, (a, b) <> (1, 2) AS n, (a, b) IN ((1, 2), (3, 4)) AS i, (a, b) NOT IN ((1, 2), (3, NULL)) AS o, (a, b) IS (3, NULL) AS s FROM (VALUES (1, 2), (3, 4), (3, NULL), (5, 6)) AS v (a, b)
