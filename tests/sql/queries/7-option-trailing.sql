SELECT cpu, count(*) AS m FROM 'events.jsonl' GROUP BY cpu ORDER BY cpu WITH (max_groups = 100, on_loss = 'mark')
