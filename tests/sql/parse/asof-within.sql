SELECT * FROM a ASOF JOIN b ON a.k = b.k AND a.time >= b.time WITHIN 1s
