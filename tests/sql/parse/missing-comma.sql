SELECT pid comm n FROM s
