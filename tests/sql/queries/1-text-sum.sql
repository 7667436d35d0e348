-- check: none; a column of 2^63 and more and of negative numbers is TEXT, whose sum is exact or an error
SELECT a, sum(a) AS s, typeof(sum(a)) AS type FROM 'mixed-sign.csv' GROUP BY a
