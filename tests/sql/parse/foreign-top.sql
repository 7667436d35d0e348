SELECT TOP 5 pid FROM t:a:b
