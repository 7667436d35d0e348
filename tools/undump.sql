#!/usr/bin/env ebql
-- How much do programs read from Unix sockets, and from whom?
--
-- Each piece that unix_stream_read_actor() hands out, with its first text, which ends at the first byte
-- that is 0 and may go on behind the piece.  Costs nothing but then.  Tried on 6.1 and 6.12.
SELECT time, pid, comm, chunk AS bytes, str(skb.data + skip, 60) AS data
FROM kprobe:unix_stream_read_actor
