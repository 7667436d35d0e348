SELECT pid, comm FORM tracepoint:a:b WHERE pid = 1
