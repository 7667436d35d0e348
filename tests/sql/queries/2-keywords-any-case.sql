select K, CoUnT(*) as N from 'events.jsonl' where K is not null group by K order by N desc, K
