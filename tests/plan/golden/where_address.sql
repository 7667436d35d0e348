SELECT ntop(family, daddr_v6), count(*) FROM tracepoint:sock:inet_sock_set_state WHERE inet(daddr) = '10.0.0.1' OR inet(saddr_v6) = '::1' GROUP BY ntop(family, daddr_v6)
