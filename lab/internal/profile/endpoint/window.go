package endpoint

import (
	"archive/tar"
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"
)

// Window is the path of all profiles of one window: ?seconds=N, and at=T if it is to begin at a time in nanoseconds since
// 1970, so that several processes begin together. The answer is a tar archive in pprof's format. Files in begin/ are
// states at the window's begin, which is their time, and those in end/ at its end; end/cpu.pb.gz is of the window alone.
const Window = "/debug/pprof/window"

const (
	// longest is the longest window in seconds.
	longest = 600
	// beginWithin is how far in the future a window can begin.
	beginWithin = 10 * time.Second
)

// window takes one window. Only one can be taken at a time, since a process has one CPU profile.
func window(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.Atoi(r.FormValue("seconds"))
	if err != nil || seconds < 1 || seconds > longest {
		http.Error(w, fmt.Sprintf("seconds: %q is no whole number from 1 to %d", r.FormValue("seconds"), longest),
			http.StatusBadRequest)
		return
	}
	at, _ := strconv.ParseInt(r.FormValue("at"), 10, 64) // at once, if it is missing or over
	until := time.Until(time.Unix(0, at))
	if until > beginWithin {
		http.Error(w, fmt.Sprintf("at: more than %v from now", beginWithin), http.StatusBadRequest)
		return
	}
	// Until a collection, memory profiles describe an earlier time, and the window's first collection would add what the
	// process allocated at its start.
	runtime.GC()
	wait := func(until time.Time) (over bool) {
		select {
		case <-time.After(time.Until(until)):
			return true
		case <-r.Context().Done():
			return false
		}
	}
	if !wait(time.Unix(0, at)) {
		return
	}
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer pprof.StopCPUProfile() // does nothing the second time
	var text bytes.Buffer        // in memory, where nothing fails
	out := tar.NewWriter(&text)
	add := func(name string, at time.Time, data []byte) {
		// The format is one that keeps fractions of a second.
		_ = out.WriteHeader(&tar.Header{Name: name + ".pb.gz", Mode: 0o600, Size: int64(len(data)), ModTime: at,
			Format: tar.FormatPAX})
		_, _ = out.Write(data)
	}
	begin := time.Now()
	// In the order of their cost: goroutines stop the world, which takes as long as the last thread takes to notice.
	for _, name := range []string{"mutex", "block", "heap", "goroutine"} {
		add("begin/"+name, begin, state(name))
	}
	if !wait(begin.Add(time.Duration(seconds) * time.Second)) {
		return
	}
	mutex, block, heap, end := state("mutex"), state("block"), state("heap"), time.Now()
	pprof.StopCPUProfile()
	add("end/cpu", end, cpu.Bytes())
	add("end/mutex", end, mutex)
	add("end/block", end, block)
	add("end/heap", end, heap)
	w.Header().Set("Content-Type", "application/x-tar")
	_ = out.Close()
	_, _ = w.Write(text.Bytes())
}

// state is a profile of everything since the process began.
func state(name string) []byte {
	var b bytes.Buffer
	_ = pprof.Lookup(name).WriteTo(&b, 0) // writing to a buffer does not fail
	return b.Bytes()
}
