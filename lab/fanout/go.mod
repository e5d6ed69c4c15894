module github.com/line-rate/line-rate/lab/fanout

go 1.26.0

require (
	github.com/line-rate/line-rate/lab v0.0.0
	github.com/line-rate/line-rate/lab/floor v0.0.0
	golang.org/x/sys v0.49.0
)

require github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe // indirect

replace github.com/line-rate/line-rate/lab => ../

replace github.com/line-rate/line-rate/lab/floor => ../floor
