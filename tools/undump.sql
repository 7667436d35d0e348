#!/usr/bin/env ebql
-- What do programs read from Unix sockets?
--
-- Each piece that unix_stream_read_actor() hands out; cut behind 200 bytes, or at the first byte that
-- is 0.  Costs nothing but then.  Tried on 6.1 and 6.12.
SELECT time, pid, comm, skb.len AS bytes, str(skb.data, 200) AS data FROM kprobe:unix_stream_read_actor
