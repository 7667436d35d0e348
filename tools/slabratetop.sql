#!/usr/bin/env ebql
-- Which caches of the kernel's objects are asked for most?
--
-- Each kmem_cache_alloc(); bytes are those of the objects.  Measured on 6.18: 95 ns a run.  Answers
-- tested on 6.18.
-- Rate: an object: thousands a second, up to millions on a busy machine.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
-- :top      INTEGER  = 20   so many lines
SET windows = :count;
SELECT s.name AS cache, count(*) AS n, sum(s.object_size) AS bytes FROM raw_tracepoint:kmem_cache_alloc
GROUP BY s.name WINDOW TUMBLING :interval ORDER BY n DESC LIMIT :top
