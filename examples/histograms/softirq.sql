-- How long softirqs run.
SELECT softirq_name(vec) AS softirq, histogram(latency) AS latency FROM softirq GROUP BY vec
WINDOW TUMBLING 1s
