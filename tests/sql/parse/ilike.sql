SELECT pid FROM t:a:b WHERE comm ILIKE 'a%' OR pid = 1
