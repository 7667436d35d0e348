SELECT count(*) FROM tcp_conect
