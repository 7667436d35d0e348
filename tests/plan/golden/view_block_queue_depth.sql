SELECT device_name(dev) AS disk, max(depth), histogram(depth, linear(0, 64, 4))
FROM block_queue_depth WHERE is_issue GROUP BY disk WINDOW TUMBLING 1s
