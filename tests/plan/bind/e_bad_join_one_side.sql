SELECT x.vec FROM t:irq:softirq_exit x LEFT PAIR JOIN t:irq:softirq_entry e ON x.cpu = e.cpu AND x.vec = 5
