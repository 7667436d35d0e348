SELECT 1; PRAGMA table_info(x)
