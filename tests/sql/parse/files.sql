SELECT * FROM 'a b.csv'; SELECT * FROM 'it''s.jsonl' f
