SELECT pid FROM t:a:b WHERE comm !~ '^z'
