#!/usr/bin/env ebql
-- How much time goes into interrupts?
--
-- The handlers of each line, from irq_handler_entry to irq_handler_exit; the view irq says what is
-- not seen.  Measured on 6.18: 425 ns a run.  Answers tested on 6.18.
-- Rate: two an interrupt: tens a second, up to hundreds of thousands of fast disks and networks.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT irq, name, count(*) AS n, sum(latency) AS total, quantile(latency, 0.99) AS p99,
	max(latency) AS longest
FROM irq GROUP BY irq, name WINDOW TUMBLING :interval ORDER BY total DESC
