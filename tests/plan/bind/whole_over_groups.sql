SELECT cpu, count(*), sum(count(*)) OVER () AS all_of, rank() OVER (ORDER BY max(fd)) FROM syscall:read GROUP BY cpu
