SET max_groups = 5
