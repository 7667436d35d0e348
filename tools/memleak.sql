#!/usr/bin/env ebql
-- Which code of the kernel asks for memory that is not given back?
--
-- What kmalloc() gave in a window and kfree() did not take back in it, by who asked.  Every event goes
-- to user space: some 0.5 us each, of which there may be 100,000 a second.
-- Tried on 6.1, 6.12 and 6.18.
--
-- :interval DURATION = 5s   the length of a window
-- :count    INTEGER  = 1    end after so many windows; 0: go on
-- :top      INTEGER  = 20   so many lines
SET windows = :count;
SELECT a.call_site AS asked, count(*) AS n, sum(a.bytes_alloc) AS bytes
FROM tracepoint:kmem:kmalloc AS a
WHERE NOT EXISTS (SELECT 1 FROM tracepoint:kmem:kfree AS f WHERE f.ptr = a.ptr AND f.time >= a.time)
GROUP BY a.call_site WINDOW TUMBLING :interval ORDER BY bytes DESC LIMIT :top
