SELECT file_name(fd) AS name, count(*) FROM syscall:read WHERE file_name(fd, 16) LIKE 'a%' GROUP BY name
