SELECT count(*) FROM wibble_wobble
