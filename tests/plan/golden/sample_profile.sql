SELECT user_mode, count(*), max(ip) FROM profile:99 GROUP BY user_mode
