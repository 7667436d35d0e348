SELECT inet(comm), ntop(saddr), ntop(family, comm), inet(skaddr), ntop(protocol, saddr_v6), user_name(), user_name(comm), inet(1.5) FROM tracepoint:sock:inet_sock_set_state
