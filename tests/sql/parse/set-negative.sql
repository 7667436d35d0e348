SET max_in_flight = -5; SELECT 1 FROM s
