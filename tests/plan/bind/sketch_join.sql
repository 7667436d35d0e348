SELECT first(x.vec), last(s.vec) FROM t:irq:softirq_exit x PAIR JOIN t:irq:softirq_entry s ON x.cpu = s.cpu AND x.vec = s.vec
