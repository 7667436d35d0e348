SELECT x.vec, e.vec, x.time - e.time AS d, e.vec IS NULL FROM t:irq:softirq_exit x LEFT PAIR JOIN t:irq:softirq_entry e ON x.cpu = e.cpu
