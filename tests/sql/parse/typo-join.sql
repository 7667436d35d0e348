SELECT * FROM a PIAR JOIN b ON a.x = b.x; SELECT * FROM a PAIR JION b ON a.x = b.x
