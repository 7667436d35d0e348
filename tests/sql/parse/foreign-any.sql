SELECT pid FROM t:a:b WHERE pid = ANY (1)
