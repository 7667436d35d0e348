-- tables only
-- the first parts are the larger ones where the rows cannot be shared out evenly
SELECT key, ntile(2) OVER (ORDER BY key) AS half, ntile(3) OVER (ORDER BY weight DESC, key) AS third, ntile(9) OVER (ORDER BY key) AS one FROM 'names.csv' ORDER BY key
