SELECT date(time, 'unixepoch') FROM 'data/reads.csv'
