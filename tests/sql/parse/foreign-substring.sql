SELECT substring(comm FROM 1 FOR 2), trim(BOTH ' ' FROM comm) FROM t:a:b
