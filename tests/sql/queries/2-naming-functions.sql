-- check: none, the names are ebql's: 8:16, ESTABLISHED, NET_RX, and the call numbers of x86-64 and arm64 differ
SELECT device_name(8388624) AS disk, tcp_state(1) AS tcp, softirq_name(3) AS softirq, task_state(1) AS state, tcp_state(99) AS unknown FROM 'events.jsonl' LIMIT 1
