SELECT 1 FROM uprobe:"/opt/my app/bin":"ns::f(int)";
SELECT 1 FROM "my view" AS v;
SELECT 1 FROM `a"b`:c
