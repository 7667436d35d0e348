SELECT sum(k) OVER (ORDER BY time), sum(1) OVER (PARTITION BY name ORDER BY time) FROM 'header.csv'
