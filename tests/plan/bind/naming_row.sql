SELECT device_name(dev), softirq_name(3), tcp_state(1) FROM t:block:block_rq_issue
