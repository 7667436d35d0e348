SELECT pid AS FROM t:a:b
