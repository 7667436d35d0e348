#!/usr/bin/env ebql
-- Which buffers of TCP sockets of IPv4 does the kernel drop, why, and where?
--
-- Those that are freed for another reason than that they were consumed; reason is of enum
-- skb_drop_reason, whose numbers each kernel has its own of.
-- About 0.1 us a freed buffer.  Tried on 6.12 and 6.18.
--
-- :least INTEGER = 3   only reasons from this number on: 1 is consumed, 2 is without a reason
SELECT k.time AS time, pid, comm, reason, inet(skb.sk.__sk_common.skc_rcv_saddr) AS local,
	skb.sk.__sk_common.skc_num AS lport, inet(skb.sk.__sk_common.skc_daddr) AS remote,
	ntohs(skb.sk.__sk_common.skc_dport) AS rport, kstack
FROM raw_tracepoint:kfree_skb AS k
WHERE skb.sk <> 0 AND skb.sk.sk_protocol = 6 AND skb.sk.__sk_common.skc_family = 2 AND reason >= :least
