-- tables only
-- of a table, which has no times, no sum runs along: it is that of all rows
SELECT key, sum(weight) OVER () AS s, count(*) OVER (PARTITION BY weight > 2) AS n FROM 'names.csv' ORDER BY key
