SELECT 0, 18446744073709551615, 0xFFffFFffFFffFFff, 0x10, 1.5, .5, 1., 1e3, 1.25e-3, 'it''s', '', TRUE, false, NULL
