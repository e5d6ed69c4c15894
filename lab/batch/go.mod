module github.com/line-rate/line-rate/lab/batch

go 1.26.0
