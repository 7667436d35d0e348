SELECT max(latency) % 1ms AS a, -max(latency) AS b, max(count) / 0 AS c, max(count) * 9223372036854775807 AS d FROM syscall:read WINDOW TUMBLING 1s
