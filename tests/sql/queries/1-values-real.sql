-- options: -o csv
-- check: none, SQLite keeps whole numbers among REALs
VALUES (3, 3, 'x'), (2.5, 4, 'y'), (NULL, 5.5, NULL)
