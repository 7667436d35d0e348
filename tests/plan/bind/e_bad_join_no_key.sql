SELECT x.vec FROM t:irq:softirq_exit x PAIR JOIN t:irq:softirq_entry e ON x.time > e.time
