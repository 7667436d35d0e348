SELECT pid FROM t:a:b QUALIFY pid > 1
