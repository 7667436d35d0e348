SELECT target_tree(4711), target_pid(*) FROM syscall:read
