SELECT pid_in_ns(4, 4026532177), pid FROM block_io
