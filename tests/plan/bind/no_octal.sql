SELECT count(*) FROM syscall:read WHERE count & 0777 = 0x1ff OR fd = 0 OR fd = 07 OR fd = 089 OR fd < 00.5 OR ret = -010 OR fd = 0178 OR count = 010KiB
