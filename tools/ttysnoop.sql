#!/usr/bin/env ebql
-- What is written to the terminals?
--
-- Each write(2) of one buffer that comes to tty_write(); what is longer than 200 bytes ends with "...".
-- Costs nothing but then.  Tried on 6.12.
SELECT time, pid, comm, strs(CAST("from" AS 'struct iov_iter *').ubuf,
	CAST("from" AS 'struct iov_iter *').ubuf + CAST("from" AS 'struct iov_iter *').count, 200) AS text
FROM kprobe:tty_write WHERE CAST("from" AS 'struct iov_iter *').iter_type = 0
