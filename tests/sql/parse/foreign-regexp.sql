SELECT pid FROM t:a:b WHERE (comm REGEXP 'a') OR pid = 1
