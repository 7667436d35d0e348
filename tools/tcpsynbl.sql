#!/usr/bin/env ebql
-- How full are the queues of connections that nobody has accepted yet?
--
-- Of the listening socket, as each handshake ends, by the size of its queue.  Its cost was not
-- measured.  Answers tested on 6.1 and 6.12.
-- Rate: a connection that comes in: some a second, up to tens of thousands on a busy server.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT sk.sk_max_ack_backlog AS size, histogram(sk.sk_ack_backlog) AS waiting
FROM kprobe:tcp_v*_syn_recv_sock
-- That of IPv6 calls the other one for a connection of IPv4.
WHERE probe = 'kprobe:tcp_v4_syn_recv_sock' OR skb.protocol = ntohs(0x86dd)
GROUP BY sk.sk_max_ack_backlog WINDOW TUMBLING :interval
