SELECT 1 FROM tracepoint::read
