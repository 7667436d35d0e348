-- By slab cache.
SELECT name, sum(bytes_alloc) FROM tracepoint:kmem:kmem_cache_alloc GROUP BY name
