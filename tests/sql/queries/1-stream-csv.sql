SELECT time, tid, nr, ret, latency FROM 'calls.csv' WHERE nr = 12
