package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// help is the table of settings, and then what else a person who starts the server must
// know.
func help() string {
	w := new(strings.Builder)
	fmt.Fprint(w, `fiber_server answers HTTP requests from memory, for load tests.

Usage: fiber_server [--flag=value ...]

`)
	for _, st := range settings {
		fmt.Fprintf(w, "  --%s=%s\n", st.flag, st.value)
		fmt.Fprintf(w, "        %s\n", st.about)
		fmt.Fprintf(w, "        accepts %s; default %s\n", st.accept, cmp.Or(st.def, "none"))
	}
	fmt.Fprint(w, `  --version
        print the versions of the server, Go, Fiber, fasthttp and gofakeit
  --help
        print this

A BOOL is true, false, 1 or 0; a flag alone, as in --pprof, is true.

GOMAXPROCS, a variable of Go's own, is the number of workers with
prefork, where each worker then runs on one, and the number of threads that run
Go code at a time without. Not set, it is the number of processors this process
may use, less if its cgroup allows less.

Tunings:
`)
	writeTunings(w)
	fmt.Fprint(w, `
Routes:
`)
	for _, r := range catalog.Routes() {
		fmt.Fprintf(w, "  %-10s%s\n", r.Path, r.About)
	}
	fmt.Fprint(w, `  /healthz  which process answered, and what it serves

SIGTERM or SIGINT stops the server and its workers within about 3 seconds and
answers the requests it has begun to read; net-http, those it has read.

Exit codes: 0 stopped when asked, 1 failed, 2 a setting was refused, 3 the
address is in use, 4 a worker was lost.
`)
	return w.String()
}
