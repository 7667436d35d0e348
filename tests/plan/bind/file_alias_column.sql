SELECT size.size, size.pid FROM 'data/reads.csv' AS size WHERE size.comm = 'dd'
