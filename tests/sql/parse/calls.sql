SELECT f(), count(*), count(DISTINCT a), sum(a) FILTER (WHERE b > 1), p99(latency), top_k(comm, 10, bytes)
