#!/usr/bin/env ebql
-- How often, and for how long, are pages moved to another NUMA node?
--
-- Each migrate_misplaced_folio(), which kernels have from 6.7 on.  Costs nothing but then.  Tested on
-- 6.12, in a guest of two nodes.  Its cost was not measured.
-- Rate: two a call: none a second on one node, up to tens of thousands as memory moves to its threads.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT count(*) AS moves, sum(latency) AS total FROM function:migrate_misplaced_folio
WINDOW TUMBLING :interval
