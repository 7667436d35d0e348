SELECT x.cpu FROM tracepoint:irq:irq_handler_exit AS x PAIR JOIN tracepoint:irq:irq_handler_entry AS X ON x.cpu = x.cpu
