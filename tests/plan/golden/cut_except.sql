SELECT comm FROM syscall:read GROUP BY comm EXCEPT SELECT comm FROM syscall:write GROUP BY comm WINDOW TUMBLING 1s
