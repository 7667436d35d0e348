SET max_groups TO 3
