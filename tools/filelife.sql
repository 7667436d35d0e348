#!/usr/bin/env ebql
-- Which files live for a short time only?
--
-- From security_inode_create(), as a file is made, to vfs_unlink() of the same directory entry; a row
-- as it goes, if that is within :within.  Costs nothing but then.  Its cost was not measured.  Answers
-- tested on 6.1 and 6.12.
-- Rate: one as a file is made, one as it goes: some a second, up to tens of thousands of small files.
--
-- :within DURATION = 10s   how long is short
SELECT u.time AS time, pid, comm, u.time - c.time AS age, u.dentry.d_name.name AS name
FROM kprobe:vfs_unlink AS u PAIR JOIN kprobe:security_inode_create AS c ON u.dentry = c.dentry
WITHIN :within
