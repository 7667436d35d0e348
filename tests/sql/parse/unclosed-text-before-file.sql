SELECT pid || 'x FROM 'a.csv'
