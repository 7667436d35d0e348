SELECT count(*) FROM syscal:read
