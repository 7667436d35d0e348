SELECT first(k) FROM 'text-time.csv'
