SET access_path = kprobe; SELECT sk.__sk_common.skc_dport AS port, sum(size) FROM kprobe:tcp_sendmsg GROUP BY port
