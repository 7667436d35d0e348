SELECT nr, (SELECT max(latency) FROM 'calls.csv') AS m FROM 'calls.csv' WHERE nr < 2 ORDER BY m DESC, nr LIMIT 3
