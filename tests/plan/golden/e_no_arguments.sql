SET access_path = kprobe; SELECT sum(size) FROM kretprobe:tcp_sendmsg
