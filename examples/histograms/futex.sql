-- How long threads wait in futex, and wake others, by operation.
SELECT op & 127 AS op, histogram(latency) AS latency FROM syscall:futex GROUP BY op & 127
WINDOW TUMBLING 1s
