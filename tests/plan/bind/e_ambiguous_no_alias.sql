SELECT softirq_exit.vec FROM t:irq:softirq_exit PAIR JOIN t:irq:softirq_exit ON softirq_exit.cpu = softirq_exit.cpu
