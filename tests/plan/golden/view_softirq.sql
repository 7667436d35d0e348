SELECT softirq_name(vec), histogram(latency) FROM softirq GROUP BY vec WINDOW TUMBLING 1s
