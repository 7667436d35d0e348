SELECT * FROM a PAIR JOIN b ON a.x = b.x WITHIN -1s WHERE a.y = 1
