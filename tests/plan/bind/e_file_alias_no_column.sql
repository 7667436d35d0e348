SELECT size.sise FROM 'data/reads.csv' AS size
