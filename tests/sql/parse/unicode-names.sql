SELECT größe, "日本" AS 名 FROM 表 WHERE t = 'naïve'
