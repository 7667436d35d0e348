SELECT * FROM 'data/broken.csv'
