SELECT größe, 'naïve' x y FROM s
