SELECT x.cpu FROM (SELECT cpu, 1 AS k FROM t:irq:softirq_exit) x PAIR JOIN (SELECT cpu, 1 AS k FROM t:irq:softirq_entry) e ON x.cpu = e.cpu AND x.k = e.k
