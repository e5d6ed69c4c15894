module github.com/line-rate/line-rate/lab/servers/floor

go 1.26.0

require (
	github.com/line-rate/line-rate/lab v0.0.0
	golang.org/x/sys v0.49.0
)

require github.com/brianvoe/gofakeit/v7 v7.18.1 // indirect

replace github.com/line-rate/line-rate/lab => ../..
