# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""As README.md has it: live windows as rows.  This thread makes 30,000 calls, and counts them."""
import datetime
import os
import threading

import ebql

CALLS = 30000

with ebql.connect() as session:
    query = session.run("SELECT cpu, count(*) AS n FROM syscall:getppid WHERE tid = :tid "
                        "GROUP BY cpu WINDOW TUMBLING :every",
                        {"tid": threading.get_native_id(),
                         "every": datetime.timedelta(milliseconds=20)})
    costs = query.stats()
    assert costs.verify_ns > 0 and costs.attach_ns > 0, costs.__dict__
    assert costs.programs == 2 and costs.instructions > 0, costs.__dict__
    assert (costs.segment, costs.segment_queries, costs.counted_with) == (1, 1, 0), costs.__dict__
    seen = windows = 0
    lost = {}

    def take(batch):
        global seen, windows
        seen += sum(row["n"] for row in batch)
        windows += 1
        lost.update(batch.lost)

    for i in range(CALLS):
        os.getppid()
        if i % 1000 == 0:
            batch = query.next(timeout=0.005)
            if batch is not None:
                take(batch)
    query.stop()
    for batch in query:
        take(batch)
    assert batch.is_last and query.stats().matched == CALLS, query.stats().__dict__
    assert (seen, lost) == (CALLS, {}) and windows > 3, (seen, lost, windows)

    # Two that count the same, in other windows, and one that does not.
    texts = ["SELECT count(*) FROM syscall:getppid WINDOW TUMBLING 20ms",
             "SELECT count(*) AS n FROM syscall:getppid WINDOW TUMBLING 1h",
             "SELECT max(latency) FROM syscall:getppid"]
    shared = [session.run(text) for text in texts]
    costs = [one.stats() for one in shared]
    assert [one.counted_with for one in costs] == [1, 1, 0], [one.__dict__ for one in costs]
    assert [one.segment_queries for one in costs] == [3, 3, 3], [one.__dict__ for one in costs]
    shared[0].close()
    assert shared[1].stats().counted_with == 0
