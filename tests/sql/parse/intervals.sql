SELECT INTERVAL '1' SECOND, INTERVAL 10 minutes, INTERVAL '1.5' HOUR, INTERVAL '2 days', interval, interval + 1
