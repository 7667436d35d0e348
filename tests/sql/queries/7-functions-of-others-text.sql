SELECT left(k, 2), nvl(n, 0), char_length(k), strpos(k, 'a'), right(k, 1) FROM 'events.jsonl'
