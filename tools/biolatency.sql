#!/usr/bin/env ebql
-- How long does block I/O take?
--
-- From the request's start to its completion: what waited in the scheduler's queue before is the
-- view's queue_time.  The disk is its number; the histogram's cells are powers of two.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
SET windows = :count;
SELECT histogram(latency) FROM block_io WINDOW TUMBLING :interval
