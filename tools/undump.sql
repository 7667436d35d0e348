#!/usr/bin/env ebql
-- How much do programs read from Unix sockets, and what?
--
-- Each piece that unix_stream_read_actor() hands out, with its text, of which bytes that are 0 are
-- blanks; what is longer than 60 bytes ends with "...".  Of a piece that lies outside of the buffer's
-- own memory, as large ones do, data is NULL.  Costs nothing but then.  Its cost was not measured.
-- Answers tested on 6.1 and 6.12.
-- Rate: a piece: tens a second, up to hundreds of thousands where programs talk by such sockets.
SELECT time, pid, comm, chunk AS bytes, CASE WHEN first + chunk <= skb.len - skb.data_len
	THEN strs(skb.data + first, skb.data + first + chunk, 60) END AS data
FROM (SELECT time, pid, comm, skb, chunk & 0x7fffffff AS chunk,
		CAST(skb.cb AS 'struct unix_skb_parms *').consumed + skip & 0x7fffffff AS first
	FROM kprobe:unix_stream_read_actor)
