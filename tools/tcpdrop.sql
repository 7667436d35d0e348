#!/usr/bin/env ebql
-- Which TCP segments of IPv4 does the kernel drop, why, and where?
--
-- Buffers that are freed for another reason than that they were consumed, by what their headers say;
-- reason is of enum skb_drop_reason, whose numbers each kernel has its own of.  Ports are where the
-- IP header ends, NULL in a fragment that is not the first and in one that is cut.  pid and comm are
-- of the thread that was on the CPU, which need not be the connection's.  Its cost was not measured.
-- Answers tested on 6.1 and 6.12.
-- Rate: a buffer that is dropped: some a second, up to millions in a flood.
--
-- :least INTEGER = 2      only reasons from this number on: 0 and 1 are no drops, or say nothing
-- :port  INTEGER = NULL   only from this port or to it
SELECT * FROM (SELECT time, pid, comm, reason, inet(CAST(ip AS 'struct iphdr *').saddr) AS source,
	iif(is_first, ntohs(CAST(tcp AS 'struct tcphdr *').source), NULL) AS sport,
	inet(CAST(ip AS 'struct iphdr *').daddr) AS target,
	iif(is_first, ntohs(CAST(tcp AS 'struct tcphdr *').dest), NULL) AS dport, kstack
FROM (SELECT time, pid, comm, reason, kstack, ip, tcp,
	tcp + 4 <= ending AND ntohs(CAST(ip AS 'struct iphdr *').frag_off) & 8191 = 0 AS is_first
	FROM (SELECT time, pid, comm, reason, kstack, ip, ending, ip + 4 * CAST(ip AS 'struct iphdr *').ihl AS tcp
		FROM (SELECT k.time AS time, pid, comm, reason, kstack, skb.head + skb.network_header AS ip,
			skb.head + skb.tail AS ending
			FROM raw_tracepoint:kfree_skb AS k
			WHERE reason >= :least AND skb.protocol = ntohs(0x0800))))
WHERE CAST(ip AS 'struct iphdr *').protocol = 6)
WHERE :port IS NULL OR sport = :port OR dport = :port
