SELECT x.vec, e.one, e.v, e.has FROM t:irq:softirq_exit x LEFT PAIR JOIN (SELECT 1 AS one, vec + 1 AS v, cpu, pid IS NULL AS has FROM t:irq:softirq_entry WHERE vec <> 9) AS e ON x.cpu = e.cpu
