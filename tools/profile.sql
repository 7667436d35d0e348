#!/usr/bin/env ebql
-- Where is the CPU's time spent?
--
-- Samples of all CPUs; -o folded and -o flamegraph draw them.  Measured on 6.18: 719 ns a run.
-- Answers tested on 6.18.
-- Rate: what :rate says: 49 a second on each CPU, also while it idles.
--
-- :rate STREAM  = profile:49   how often
-- :who  TEXT    = NULL         only of programs of this name
-- :pid  INTEGER = NULL         only of this process; also -p PID
-- :tid  INTEGER = NULL         only of this thread
-- :cpu  INTEGER = NULL         only on this CPU
SELECT comm, ustack, kstack, count(*) AS samples FROM :rate
WHERE pid <> 0 AND (:who IS NULL OR comm = :who) AND (:pid IS NULL OR pid = :pid)
	AND (:tid IS NULL OR tid = :tid) AND (:cpu IS NULL OR cpu = :cpu)
GROUP BY comm, ustack, kstack
