SELECT - -a, -+~a, NOT NOT a, -(a + b), -a[1], a - -5, NOT a IS NULL, (NOT a) IS NULL
