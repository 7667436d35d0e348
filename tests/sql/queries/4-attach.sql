ATTACH 'ref.db';
SELECT t.place, p.floor, count(*) AS m, round(avg(celsius), 6) AS c FROM 'temps.csv' AS t JOIN ref.places AS p ON t.place = p.place GROUP BY t.place, p.floor ORDER BY t.place
