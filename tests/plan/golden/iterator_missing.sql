SELECT count(*) FROM iter:tcp
