-- check: none, SQLite has no such integers: 9223372036854775808 is 2^63
SELECT u FROM 'extremes.jsonl' WHERE u >= 9223372036854775807
