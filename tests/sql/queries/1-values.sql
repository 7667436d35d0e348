-- tables only
VALUES (1, 'a'), (2, NULL), (NULL, 'c') ORDER BY 2 DESC LIMIT 2
