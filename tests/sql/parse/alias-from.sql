SELECT pid AS from, tid FROM t:a:b WHERE latency > 5sec AND x < 2min WINDOW TUMBLING 1 sec
