kprobe:tcp_sendmsg { $size = arg2; if ($size > 10) { @[pid] = count(); } }
