#!/usr/bin/env ebql
-- Which names are looked up that the cache of directory entries does not have?
--
-- Each look-up that goes to the file system, by d_alloc_parallel(), with the name within its
-- directory; what makes files looks another way.  Its cost was not measured.  Answers tested on 6.1
-- and 6.12.
-- Rate: a name: some a second, up to hundreds of thousands as many files are first looked at.
SELECT time, pid, comm, substr(str(name.name, 100), 1, name.len) AS name
FROM kprobe:d_alloc_parallel
