SELECT pid FROM t:a:b WHERE comm NOT ILIKE 'a%'
