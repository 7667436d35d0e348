SELECT pid FROM 'a.csv' WHERE comm = 'x ORDER BY pid
