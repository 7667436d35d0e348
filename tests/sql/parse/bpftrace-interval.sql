BEGIN { printf("Tracing\n"); } h:cache-misses:1000 { @[pid, comm]++ } interval:s:1 { print(@); clear(@); }
