SELECT count(*) FROM rt:sys_enter WHERE (NULL IS NULL OR comm = 'dd') AND NOT 'dd' IS NULL AND (5 IS NULL OR id = 1)
