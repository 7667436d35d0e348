SELECT x.cpu, e.vec FROM (SELECT cpu, 1 AS k FROM t:irq:softirq_exit) x LEFT PAIR JOIN t:irq:softirq_entry e ON x.cpu = e.cpu AND x.k = e.vec AND e.vec = 5
