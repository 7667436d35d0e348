SELECT * FROM a RIGHT JOIN b ON a.x = b.x
