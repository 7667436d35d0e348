SELECT ilike, top, all, any(x), collate AS fetch, qualify.match FROM t:a:b AS qualify WHERE regexp = similar GROUP BY all, over
