-- tables only
SELECT t.y, x * 2 AS z FROM (VALUES (1, 'one'), (2, 'two')) AS t (x, y) WHERE x > 1 UNION VALUES ('six', 6), ('two', 4) ORDER BY 2
