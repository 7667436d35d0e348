SELECT * FROM a JOIN b ON a.k = b.k WITHIN 1s
