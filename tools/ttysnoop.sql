#!/usr/bin/env ebql
-- What is written to the terminals?
--
-- Each tty_write(); cut behind 200 bytes.  Costs nothing but then.  Tried on 6.12.
SELECT time, pid, comm, str(CAST("from" AS 'struct iov_iter *').ubuf, 200) AS text FROM kprobe:tty_write
