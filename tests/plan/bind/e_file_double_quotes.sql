SELECT * FROM "data/reads.csv"
