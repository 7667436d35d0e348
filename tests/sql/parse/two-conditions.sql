SELECT a FROM s WHERE pid = 3 comm = 'x'
