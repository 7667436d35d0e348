SELECT sum(10 / k) AS s FROM 'zero.csv' WINDOW COUNT (SIZE 4, ADVANCE BY 1)
-- check: none, the row with k = 0 is in the windows 1 to 4
