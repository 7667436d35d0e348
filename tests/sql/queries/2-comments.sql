-- a comment
SELECT /* here too */ count(*) AS n FROM 'events.jsonl' -- and here
;
