// Command planted is a server whose requests burn a number of steps more CPU time: what
// tools/calibrate.py compares, since it knows by how much.
//
//	planted --addr 127.0.0.1:8080 --steps 400
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	steps := flag.Int("steps", 0, "steps of the loop for each request; each waits for the last, so all cost the same")
	flag.Parse()
	answer := []byte(`{"id":17,"name":"Anna","groups":["staff","admin"],"active":true}` + "\n")
	fmt.Fprintln(os.Stderr, "planted:", http.ListenAndServe(*addr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if burn(*steps) == 0 { // it never is, which the compiler cannot know
			panic("burnt out")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})))
	os.Exit(1)
}

func burn(steps int) uint64 {
	x := uint64(1)
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
