SELECT count(*) FROM tracepoint:a:b WINDOW TUMBLING foo
