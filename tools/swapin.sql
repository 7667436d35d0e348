#!/usr/bin/env ebql
-- Whose memory comes back from the swap?
--
-- Pages read by swap_readpage() (to 6.4) or swap_read_folio().  About 0.1 us a page.
-- Tried on 6.1 and 6.12.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
SET windows = :count;
SELECT comm, pid, count(*) AS pages FROM kprobe:swap_read* GROUP BY comm, pid WINDOW TUMBLING :interval
