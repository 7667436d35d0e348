SELECT * FROM (SELECT time, pid FROM 'data/reads.csv' UNION ALL SELECT time, size FROM 'data/reads.csv') AS u
