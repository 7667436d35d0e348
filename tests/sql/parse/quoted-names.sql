SELECT "a b", `c d`, "with ""quotes""", s."x y", "count"(*), "cast"(1) FROM s
