-- tables only
SELECT key, name, weight FROM 'names.csv'
