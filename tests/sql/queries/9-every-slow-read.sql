SELECT time, pid, comm, fd, latency FROM 'reads.jsonl' WHERE latency > 10us
