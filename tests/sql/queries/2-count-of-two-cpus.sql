SELECT count(*) FROM (SELECT time, k AS cpu, n AS cpu FROM 'none.csv') AS x WINDOW COUNT 50 PER CPU
