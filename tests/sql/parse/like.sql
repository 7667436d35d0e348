SELECT comm LIKE 'a%', comm NOT LIKE '_', comm GLOB 'a*', comm NOT GLOB '?', glob('a', b)
