module github.com/line-rate/line-rate/lab/servers/fanout

go 1.26.0

require (
	github.com/line-rate/line-rate/lab v0.0.0
	github.com/line-rate/line-rate/lab/servers/floor v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/line-rate/line-rate/lab => ../..

replace github.com/line-rate/line-rate/lab/servers/floor => ../floor
