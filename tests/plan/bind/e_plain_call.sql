SELECT count(*) FROM pread64
