-- tcp_sendmsg latency by size in KiB
SELECT size / 1KiB AS kib, histogram(latency) FROM function:tcp_sendmsg GROUP BY kib;
