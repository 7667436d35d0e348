SELECT device_name(dev), count(*) FROM block_io WHERE device_name(dev) LIKE '8:%' GROUP BY 1 WINDOW TUMBLING 1s
