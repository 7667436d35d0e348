-- From which pages threads fault: by the kind of the access, how often in a window each.
SELECT is_write, histogram(address) AS address FROM page_fault GROUP BY is_write
WINDOW TUMBLING 1s
