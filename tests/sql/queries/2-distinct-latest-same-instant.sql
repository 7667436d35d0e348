SELECT DISTINCT cpu, x FROM 'mixed.jsonl' GROUP BY cpu
