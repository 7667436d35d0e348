SELECT comm, count(*) AS n FROM iter:task GROUP BY comm HAVING sum(count(*)) OVER () < 2
