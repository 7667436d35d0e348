SELECT k || ' ' + n, n + 'it''s', n + '1.5', n + '15', n + k FROM 'events.jsonl'
