SELECT CASE WHEN count(*) > 5 THEN max(time) ELSE window_start END AS t, coalesce(max(time), window_end) AS u FROM t:syscalls:sys_enter_read WINDOW TUMBLING 1s
