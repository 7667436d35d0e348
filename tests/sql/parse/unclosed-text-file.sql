SELECT pid FROM 'a.csv WHERE comm = 'x'
