#!/usr/bin/env ebql
-- What is written to the terminals?
--
-- Each piece that comes to n_tty_write(), of which a byte that is 0 is a blank; what is longer than
-- 200 bytes ends with "...".  What ebql itself writes is left out.  Costs nothing but then.  Its cost
-- was not measured.  Answers tested on 6.1 and 6.12.
-- Rate: a piece: some a second, up to hundreds of thousands where a program prints much.
SELECT time, pid, comm, tty.name AS tty, strs(buf, buf + nr, 200) AS text
FROM kprobe:n_tty_write WHERE comm <> 'ebql'
