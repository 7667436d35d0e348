#!/usr/bin/env ebql
-- Whose memory comes back from the swap?
--
-- Folios read by swap_readpage() (to 6.4) or swap_read_folio(), of which a wildcard takes the one that
-- is there.  Its cost was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: a folio: none a second where memory suffices, up to hundreds of thousands where it does not.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT comm, pid, count(*) AS folios FROM kprobe:swap_read*
WHERE probe IN ('kprobe:swap_readpage', 'kprobe:swap_read_folio')
GROUP BY comm, pid WINDOW TUMBLING :interval
