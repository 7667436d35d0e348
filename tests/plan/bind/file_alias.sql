SELECT r.time, r.size + 1, reads.pid FROM 'data/reads.csv' AS reads ASOF JOIN 'data/reads.csv' AS r ON r.pid = reads.pid AND reads.time >= r.time
