SELECT a OR b AND NOT c = d < e & f + g * h || -i, ((((a OR b) AND c) = d) < e) << (f + g) * (h || i)
