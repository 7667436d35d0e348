SELECT pid::int FROM t:a:b
