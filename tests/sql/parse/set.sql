SET pushdown = off; SET access_path = raw; SET pushdown = on; SET max_groups = 4KiB; set x = 'y'; SET every = INTERVAL '1' SECOND; SET a = null; SET a = 1.5
