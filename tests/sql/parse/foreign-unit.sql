SELECT pid FROM t:a:b WHERE latency > 10 ms AND latency IN (1 s, 2s)
