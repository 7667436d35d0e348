SET pushdown; SET a = ; SET = 3; SET a = (1)
