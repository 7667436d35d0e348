-- check: none, rows by hand; to functions of text an integer of 2^63 and more is its digits
SELECT u, hex(u) AS hex, quote(u) AS quote, typeof(u) AS type, length(u) AS length,
  substr(u, 2, 3) AS part, replace(u, '1', 'x') AS replaced, upper(u) AS upper, unicode(u) AS first,
  instr(u, '8') AS place
FROM 'extremes.jsonl' WHERE u > 9223372036854775806 OR u IS NULL
