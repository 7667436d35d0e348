SELECT pid comm FORM tracepoint:a:b
