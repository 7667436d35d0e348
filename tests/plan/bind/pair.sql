SELECT x.cpu, count(*), max(x.time - e.time) FROM t:irq:softirq_exit x PAIR JOIN t:irq:softirq_entry e
ON x.cpu = e.cpu AND e.vec = x.vec AND x.time >= e.time WITHIN 10s WHERE e.pid > 0 GROUP BY x.cpu
