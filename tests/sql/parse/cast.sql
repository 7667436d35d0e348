SELECT CAST(a AS INTEGER), CAST(p AS 'struct sock *'), CAST(p AS struct sock *), CAST(a AS UNSIGNED BIG INT), cast FROM s
