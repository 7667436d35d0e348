SELECT * FROM read_csv('t.csv') WHERE k = 1
