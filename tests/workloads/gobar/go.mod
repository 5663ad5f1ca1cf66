module gobar

go 1.19
