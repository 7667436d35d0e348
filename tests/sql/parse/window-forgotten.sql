SELECT count(*) FROM t:a:b TUMBLING 1s
