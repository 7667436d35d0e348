SELECT count(*) FROM sycall:pread64
