SELECT position('a' IN comm), try_cast(comm AS INTEGER) FROM t:a:b
