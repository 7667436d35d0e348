SELECT rq.q.disk.disk_name, task.mm.owner.pid, sk.__sk_common.skc_dport, x[3], a.b[i + 1][2] FROM s
