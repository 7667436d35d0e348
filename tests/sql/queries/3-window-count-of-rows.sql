SELECT cpu, x FROM 'mixed.jsonl' WINDOW COUNT (SIZE 4)
