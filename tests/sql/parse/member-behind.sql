SELECT a[1].b.c, f(x).y, CAST(p AS 'struct x *').z[i + 1], (a.b).c, a.b[0] FROM rt:x
