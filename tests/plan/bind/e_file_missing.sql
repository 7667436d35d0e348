SELECT * FROM 'data/none.csv'
