SELECT regs.orig_ax, sum(regs.r13) FILTER (WHERE regs.r10 > 3), count(*)
FROM raw_tracepoint:sys_enter WHERE regs.r14 <> 0 GROUP BY regs.orig_ax
