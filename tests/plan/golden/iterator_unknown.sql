SELECT count(*) FROM iter:taks
