SELECT 1::smallint
