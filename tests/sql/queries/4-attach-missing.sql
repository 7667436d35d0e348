ATTACH 'absent.db' AS r;
SELECT count(*) AS m FROM 'temps.csv' AS t JOIN r.places AS p ON t.place = p.place
