SELECT 1 FROM s WITH (max_groups = 65536, on_loss = 'mark', max_cpu = '1%', access_path = auto, every = 1s, strict = true, pushdown = on)
