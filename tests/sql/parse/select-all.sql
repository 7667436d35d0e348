SELECT ALL k || 'a', n FROM s
