SELECT sym(call_site) AS f, comm, count(*), max(bytes_req), count(DISTINCT cpu) FROM tracepoint:kmem:kmem_cache_alloc GROUP BY f, comm WINDOW TUMBLING 1s
