SELECT irq, name, histogram(latency) FROM irq GROUP BY irq, name WINDOW TUMBLING 1s
