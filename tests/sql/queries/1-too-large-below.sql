-- check: none; a sum below -2^63 is shown, and not computed with
SELECT sum(i) AS s FROM 'extremes.jsonl' WHERE i < 0 HAVING s < 5
