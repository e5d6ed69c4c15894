module github.com/line-rate/line-rate/lab/batch/study

go 1.26.0

require (
	github.com/line-rate/line-rate/lab v0.0.0
	github.com/line-rate/line-rate/lab/batch v0.0.0
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/pelletier/go-toml/v2 v2.4.3 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/line-rate/line-rate/lab => ../..

replace github.com/line-rate/line-rate/lab/batch => ..
