package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"linerate": main, "server": serve})
}

// Each file is some promises of linerate: what is typed, what is printed, what is left behind.
func TestScripts(t *testing.T) {
	testscript.RunT(serial{t}, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("XDG_RUNTIME_DIR", e.WorkDir+"/.run") // a comparison excludes runs of other tests
		return os.Mkdir(e.WorkDir+"/.run", 0o700)
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"listening": listening}})
}

// serial runs one script after the other: each measures.
type serial struct{ *testing.T }

func (serial) Parallel() {}

func (s serial) Run(name string, do func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { do(serial{t}) })
}

func (s serial) Verbose() bool { return testing.Verbose() }

// listening PORT waits for a server there; with a ! before it nothing may listen there any more.
func listening(ts *testscript.TestScript, not bool, args []string) {
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+args[0])
		if err == nil {
			c.Close()
		}
		if not == (err != nil) {
			return
		}
	}
	ts.Fatalf("port %s: listening is not %v", args[0], !not)
}

// serve is a server of the scripts, which behaves as its flags say.
func serve() {
	port := flag.String("port", "", "where it listens")
	host := flag.String("host", "127.0.0.1", "likewise")
	body := flag.String("body", "hello", "of its answers; HOST is what it was called, COUNT the number of each, TIME the time")
	status := flag.Int("status", 200, "of its answers")
	after := flag.Int64("after", 0, "from this answer on the status is that; each before it is 200")
	every := flag.Int64("every", 1, "of those each so many-th has it")
	starts := flag.Duration("starts", 0, "it answers 503 for so long")
	burn := flag.Duration("burn", 0, "CPU time of each answer")
	logs := flag.Bool("logs", false, "print a line for each request")
	dies := flag.Int64("dies", 0, "with this answer")
	how := flag.String("how", "", "exits, forks, wraps, ignores, or closes in silence")
	late := flag.Duration("late", 0, "after which it listens")
	file := flag.String("pid", "", "file that gets its process id")
	flag.Parse()
	again := func() *exec.Cmd {
		i := slices.Index(os.Args, "--how")
		c := exec.Command(os.Args[0], slices.Delete(os.Args[1:], i-1, i+1)...)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return c
	}
	switch *how {
	case "exits":
		fmt.Fprintln(os.Stderr, "TOKEN is not set")
		os.Exit(7)
	case "forks":
		_ = again().Start()
		os.Exit(0)
	case "wraps":
		_ = again().Run()
		return
	case "ignores":
		signal.Ignore(syscall.SIGCHLD)
	}
	if *file != "" {
		_ = os.WriteFile(*file, fmt.Append(nil, os.Getpid()), 0o600)
	}
	time.Sleep(*late)
	began, n := time.Now(), atomic.Int64{}
	answer := func(w http.ResponseWriter, r *http.Request) {
		at := n.Add(1)
		if at == *dies {
			panic(http.ErrAbortHandler) // and it ends
		}
		if *how == "closes" && at%100 == 0 {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
			conn.Close()
			return
		}
		for began := time.Now(); time.Since(began) < *burn; {
		}
		if *logs {
			fmt.Println(r.URL)
		}
		if *how == "ignores" {
			c := exec.Command("/bin/true")
			_ = c.Start()
		}
		switch {
		case time.Since(began) < *starts:
			w.WriteHeader(http.StatusServiceUnavailable)
		case at > *after && at%*every == 0:
			w.WriteHeader(*status)
		}
		with := strings.NewReplacer("HOST", r.Host, "COUNT", fmt.Sprintf("%09d", at), "TIME", time.Now().Format(time.RFC3339Nano))
		_, _ = io.WriteString(w, with.Replace(*body))
		if *dies > 0 && at > *dies {
			os.Exit(9)
		}
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(net.JoinHostPort(*host, *port), http.HandlerFunc(answer)))
}
