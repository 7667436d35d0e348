SELECT count(*) FROM syscall:pread64 WITH (max_cpu = '1%', over_budget = 'sample')
