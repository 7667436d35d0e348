SELECT n + 1, n = 'x' FROM 'huge.csv'
