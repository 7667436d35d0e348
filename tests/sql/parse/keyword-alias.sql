SELECT a filter, b size, c time, d "from", e AS 'quoted text', f AS "x ""y""" FROM s time
