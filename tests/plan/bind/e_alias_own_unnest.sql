SELECT UNNEST(histogram(latenzy)) AS latenzy FROM syscall:read
