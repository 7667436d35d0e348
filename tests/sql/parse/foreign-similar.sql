SELECT pid FROM t:a:b WHERE comm SIMILAR TO 'a'
