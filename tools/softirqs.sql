#!/usr/bin/env ebql
-- How much time goes into soft interrupts?
--
-- Each run of a vector, from softirq_entry to softirq_exit; interrupts that hit meanwhile are in
-- it. Measured on 6.18: 173 ns a run.  Answers tested on 6.18.
-- Rate: two a run: hundreds a second on a quiet CPU, up to hundreds of thousands on a busy one.
--
-- :interval DURATION = 1s   the length of a window
-- :count    INTEGER  = 0    end after so many whole windows; 0: go on
SET windows = :count;
SELECT softirq_name(vec) AS softirq, count(*) AS n, sum(latency) AS total,
	quantile(latency, 0.99) AS p99, max(latency) AS longest
FROM softirq GROUP BY vec WINDOW TUMBLING :interval ORDER BY total DESC
