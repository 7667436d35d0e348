ATTACH 'ref.db' AS r;
SELECT p.place, p.floor, t.m FROM r.places AS p LEFT JOIN (SELECT place, count(*) AS m FROM 'temps.csv' GROUP BY place) AS t ON t.place = p.place ORDER BY p.place
