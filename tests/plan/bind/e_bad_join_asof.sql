SELECT x.vec FROM t:irq:softirq_exit x ASOF JOIN t:irq:softirq_entry e ON x.cpu = e.cpu
