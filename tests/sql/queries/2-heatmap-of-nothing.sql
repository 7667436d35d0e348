-- options: --heatmap
SELECT count(*) FROM 'events.jsonl'
