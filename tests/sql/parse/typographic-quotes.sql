SELECT a FROM s WHERE comm = ‘bash’
