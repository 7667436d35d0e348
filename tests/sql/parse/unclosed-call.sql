SELECT count(pid FROM s WHERE pid > 3
