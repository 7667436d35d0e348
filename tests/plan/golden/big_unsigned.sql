SELECT max(count) FROM tracepoint:syscalls:sys_enter_pread64 WHERE count > 18446744073709551614 AND pos > -9223372036854775808
