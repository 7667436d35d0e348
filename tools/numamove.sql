#!/usr/bin/env ebql
-- How often, and for how long, are pages moved to another NUMA node?
--
-- Each migrate_misplaced_page() (to 6.6) or migrate_misplaced_folio().  Costs nothing but then.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many windows; 0: go on
SET windows = :count;
SELECT count(*) AS moves, sum(latency) AS total FROM function:migrate_misplaced_folio
WINDOW TUMBLING :interval
