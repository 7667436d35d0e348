-- How long outgoing TCP connections take to be established.
SELECT histogram(latency) AS latency FROM tcp_connect
WINDOW TUMBLING 1s
