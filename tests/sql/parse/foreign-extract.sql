SELECT extract(epoch FROM time), pid FROM t:a:b WHERE pid = 1
