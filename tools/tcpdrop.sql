#!/usr/bin/env ebql
-- Which TCP segments does the kernel drop, and where?
--
-- Buffers of TCP sockets that are freed for a reason (enum skb_drop_reason; 2 is none), with the stack.
-- About 0.1 us a freed buffer.  Tried on 6.1, 6.12 and 6.18.
SELECT k.time AS time, pid, comm, reason, inet(skb.sk.__sk_common.skc_rcv_saddr) AS local,
	skb.sk.__sk_common.skc_num AS lport, inet(skb.sk.__sk_common.skc_daddr) AS remote,
	ntohs(skb.sk.__sk_common.skc_dport) AS rport, kstack
FROM raw_tracepoint:kfree_skb AS k
WHERE skb.sk <> 0 AND skb.sk.sk_protocol = 6 AND reason > 2
