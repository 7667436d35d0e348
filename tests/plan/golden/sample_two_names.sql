SELECT a.cpu, count(*) FROM software:faults:1 AS a PAIR JOIN software:page-faults:1 AS b ON a.tid = b.tid WHERE a.addr < b.addr GROUP BY a.cpu
