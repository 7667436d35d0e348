SELECT 1 WHERE (1, 2) IN (SELECT nr, ret FROM 'calls.csv')
