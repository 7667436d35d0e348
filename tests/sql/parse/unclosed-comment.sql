SELECT pid /* the process FROM s
