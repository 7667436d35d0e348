SELECT count(*) FROM syscall:read WHERE comm = 'a-very-long-program-name' OR 'sixteen-bytes-16' <> comm OR comm = 'fifteen-bytes15' OR comm > 'a-very-long-program-name'
