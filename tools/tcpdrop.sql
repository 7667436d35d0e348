#!/usr/bin/env ebql
-- Which TCP segments of IPv4 does the kernel drop, why, and where?
--
-- Buffers that are freed for another reason than that they were consumed, by what their headers say;
-- reason is of enum skb_drop_reason, whose numbers each kernel has its own of. pid and comm are of the
-- thread that was on the CPU, which need not be the connection's.  Its cost was not measured.  Answers
-- tested on 6.1 and 6.12.
--
-- :least INTEGER = 2   only reasons from this number on: 0 and 1 are no drops, or say nothing
SELECT k.time AS time, pid, comm, reason, inet(CAST(skb.head + skb.network_header AS 'struct iphdr *').saddr) AS source,
	ntohs(CAST(skb.head + skb.transport_header AS 'struct tcphdr *').source) AS sport,
	inet(CAST(skb.head + skb.network_header AS 'struct iphdr *').daddr) AS target,
	ntohs(CAST(skb.head + skb.transport_header AS 'struct tcphdr *').dest) AS dport, kstack
FROM raw_tracepoint:kfree_skb AS k
WHERE reason >= :least AND skb.protocol = ntohs(0x0800)
	AND CAST(skb.head + skb.network_header AS 'struct iphdr *').protocol = 6
