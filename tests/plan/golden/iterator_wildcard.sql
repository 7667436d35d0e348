SELECT count(*) FROM iter:*
