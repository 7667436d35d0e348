#!/usr/bin/env ebql
-- Who asks that data be on the disk?
--
-- Each call of sync() and its kin as it begins.  Measured on 6.18: 53 ns a run.  Answers tested on
-- 6.18.
-- Rate: any system call: thousands a second, up to millions on a busy CPU; of sync() and its kin some.
--
-- :pid INTEGER = NULL   only of this process; also -p PID
SELECT time, pid, comm, syscall_name(id) AS call FROM raw_tracepoint:sys_enter
WHERE syscall_name(id) IN ('sync', 'syncfs', 'fsync', 'fdatasync', 'sync_file_range', 'msync')
	AND (:pid IS NULL OR pid = :pid)
