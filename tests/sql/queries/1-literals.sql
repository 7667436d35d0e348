SELECT -9223372036854775808 AS least, 18446744073709551615 AS most, 0x10 AS hex, 1e3 AS real, 1.5 AS r, 'it''s' AS text, NULL AS none, TRUE AS yes, FALSE AS no FROM 'ends.jsonl' LIMIT 1
-- sqlite: SELECT -9223372036854775807 - 1 AS least, '18446744073709551615' AS most, 16 AS hex, 1e3 AS real, 1.5 AS r, 'it''s' AS text, NULL AS none, 1 AS yes, 0 AS no
-- check: none, SQLite has no 2^64 - 1; the others are as written
