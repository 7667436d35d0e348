#!/usr/bin/env ebql
-- Who asks that data be on the disk?
--
-- Each call of sync() and its kin as it begins.  About 20 ns at every system call where they are read
-- by the raw tracepoint.  Tried on 6.1, 6.12 and 6.18.
SELECT time, pid, comm, syscall_name(id) AS call FROM raw_tracepoint:sys_enter
WHERE syscall_name(id) IN ('sync', 'syncfs', 'fsync', 'fdatasync', 'sync_file_range', 'msync')
