SELECT-1,a.b<c,a<>b,(a)b,'x'y FROM s WHERE(a)AND(b)
