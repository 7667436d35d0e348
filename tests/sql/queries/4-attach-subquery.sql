ATTACH 'ref.db' AS r;
SELECT count(*) AS m FROM 'temps.csv' WHERE place IN (SELECT place FROM r.places WHERE floor > 0)
