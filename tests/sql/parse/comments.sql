/* head */ SELECT a -- the first
, b /* the
second */ FROM s --
