SET pushdown = off;
SELECT comm FROM iter:task WHERE task.mm.total_vm / 256 > 100
