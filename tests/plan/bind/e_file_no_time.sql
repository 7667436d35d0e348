SELECT first(name) FROM 'data/names.csv'
