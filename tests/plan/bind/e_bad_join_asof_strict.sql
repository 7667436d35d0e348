SELECT x.vec FROM t:irq:softirq_exit x ASOF JOIN t:irq:softirq_entry e ON x.vec = e.vec AND e.time < x.time
