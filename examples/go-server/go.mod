module example.com/short-links

go 1.18
