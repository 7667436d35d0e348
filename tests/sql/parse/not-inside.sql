SELECT a = NOT b, a + NOT b + c, -NOT a, a AND NOT b OR c
