SELECT "names.csv".key FROM 'names.csv' AS n
