SELECT x.cpu FROM t:irq:softirq_exit x PAIR JOIN t:irq:softirq_entry e ON x.cpu = e.cpu AND x.vec + e.vec = e.vec
