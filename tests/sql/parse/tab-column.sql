SELECT	a,	b	c	d	FROM s
