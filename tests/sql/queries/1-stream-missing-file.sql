SELECT * FROM 'absent.jsonl'
