SELECT task.mm.owner.pid AS owner, count(*), sum(size), max(ret) FROM fexit:tcp_sendmsg GROUP BY owner
