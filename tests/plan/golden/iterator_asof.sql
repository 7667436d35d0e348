SELECT t.comm FROM syscall:read AS r ASOF JOIN iter:task AS t ON r.tid = t.tid AND r.time >= t.time
