VALUES (1), ('a')
