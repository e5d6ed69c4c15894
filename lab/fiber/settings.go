package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// Settings are what a person can choose. The zero value is not usable; see parseSettings.
type Settings struct {
	Addr        string
	Stack       string
	Prefork     bool
	Index       string
	WriteBuffer int
	Tuning      Tunings
	SpinNs      int
	Pprof       bool
	PprofAddr   string

	PprofSockets  string // empty: none
	MutexFraction int
	BlockRateNs   int

	Version bool
}

// The index sources.
const (
	indexPool     = "pool"
	indexGofakeit = "gofakeit"
)

// A setting is one row of the table from which the flags and the help text are made, so
// that the two cannot disagree.
type setting struct {
	flag   string // without the dashes
	def    string
	value  string // the placeholder for the value in the help
	accept string // the accepted values, in the words of the refusal and of the help
	about  string
	isBool bool
	set    func(*Settings, string) bool // false if the value is not accepted
}

const (
	minWriteBuffer = 512
	maxWriteBuffer = 1 << 20
	maxWorkers     = 1024
	maxSpinNs      = 1_000_000_000

	maxMutexFraction = 1_000_000
	maxBlockRateNs   = 1_000_000_000

	// Entry 09's rates; its shares can only be compared at these.
	entryMutexFraction = 5
	entryBlockRateNs   = 1_000_000
)

var settings = []setting{
	{
		flag: "addr", def: "127.0.0.1:8083", value: "HOST:PORT",
		accept: "HOST:PORT, as in 127.0.0.1:8083 or :8083 for every interface",
		about:  "address to listen on",
		set: func(s *Settings, v string) bool {
			s.Addr = v
			return program.HostPort(v)
		},
	},
	{
		flag: "stack", def: stackFiber, value: "STACK",
		accept: "fiber, fasthttp or net-http",
		about:  "what serves the routes: Fiber, the fasthttp it stands on, or Go's own net/http; prefork is Fiber's",
		set: func(s *Settings, v string) bool {
			s.Stack = v
			return v == stackFiber || v == stackFastHTTP || v == stackNetHTTP
		},
	},
	{
		flag: "prefork", def: "true", value: "BOOL", isBool: true,
		accept: "true or false",
		about:  "one worker process for each of GOMAXPROCS, behind a master",
		set:    func(s *Settings, v string) bool { return setBool(&s.Prefork, v) },
	},
	{
		flag: "index", def: indexPool, value: "SOURCE",
		accept: "pool or gofakeit",
		about: "how a request gets its product: from indices drawn at start, or from gofakeit's global faker, behind its " +
			"mutex",
		set: func(s *Settings, v string) bool {
			s.Index = v
			return v == indexPool || v == indexGofakeit
		},
	},
	{
		flag: "write-buffer", def: strconv.Itoa(fiber.DefaultWriteBufferSize), value: "BYTES",
		accept: fmt.Sprintf("a whole number of bytes from %d to %d", minWriteBuffer, maxWriteBuffer),
		about:  "buffer of each connection; a response that does not fit takes more than one write",
		set: func(s *Settings, v string) bool {
			return setInt(&s.WriteBuffer, v, minWriteBuffer, maxWriteBuffer)
		},
	},
	{
		flag: "tuning", def: "", value: "NAMES",
		accept: "names from the list of tunings in --help, each once, joined by commas",
		about:  "what Fiber, fasthttp and the handlers do otherwise than as they come; Fiber only",
		set:    func(s *Settings, v string) bool { return s.Tuning.parse(v) },
	},
	{
		flag: "spin-ns", def: "0", value: "NS",
		accept: fmt.Sprintf("a whole number of nanoseconds from 0 to %d", maxSpinNs),
		about:  "processor time to burn on each request before its answer: a slower server, to see that a lab notices",
		set:    func(s *Settings, v string) bool { return setInt(&s.SpinNs, v, 0, maxSpinNs) },
	},
	{
		flag: "pprof", def: "false", value: "BOOL", isBool: true,
		accept: "true or false",
		about:  "serve net/http/pprof, and turn prefork off so that every request is in the profiled process",
		set:    func(s *Settings, v string) bool { return setBool(&s.Pprof, v) },
	},
	{
		flag: "pprof-addr", def: "127.0.0.1:6060", value: "HOST:PORT",
		accept: program.AcceptLoopback,
		about:  "address of net/http/pprof, loopback only",
		set: func(s *Settings, v string) bool {
			var ok bool
			s.PprofAddr, ok = program.LoopbackAddr(v)
			return ok
		},
	},
	{
		flag: "pprof-sockets", def: "", value: "DIR",
		accept: "a directory of your own that is closed to others (mode 0700)",
		about:  "every process that answers requests serves net/http/pprof on DIR/<pid>.sock; prefork stays as it is",
		set: func(s *Settings, v string) bool {
			s.PprofSockets = v // checked by endpoint.Check, since whether the directory will do can change
			return true
		},
	},
	{
		flag: "mutex-fraction", def: strconv.Itoa(entryMutexFraction), value: "N",
		accept: fmt.Sprintf("a whole number from 1 to %d", maxMutexFraction),
		about:  "with pprof on, one in N contended mutex events is sampled, on average; 1 is every one",
		set:    func(s *Settings, v string) bool { return setInt(&s.MutexFraction, v, 1, maxMutexFraction) },
	},
	{
		flag: "block-rate-ns", def: strconv.Itoa(entryBlockRateNs), value: "N",
		accept: fmt.Sprintf("a whole number of nanoseconds from 1 to %d", maxBlockRateNs),
		about: "with pprof on, one blocking event is sampled for each N ns blocked, on average: shorter ones in " +
			"proportion, scaled up; 1 is every one",
		set: func(s *Settings, v string) bool { return setInt(&s.BlockRateNs, v, 1, maxBlockRateNs) },
	},
}

// parseSettings reads the flags. Every error is one line.
func parseSettings(args []string, gomaxprocs string) (Settings, error) {
	var s Settings
	fs := program.NewFlags()
	fs.BoolVar(&s.Version, "version", false, "")
	for _, st := range settings {
		st.set(&s, st.def)
		set := func(v string) error {
			if !st.set(&s, v) {
				return errors.New("give " + st.accept)
			}
			return nil
		}
		if st.isBool {
			fs.BoolFunc(st.flag, "", set)
		} else {
			fs.Func(st.flag, "", set)
		}
	}
	if err := fs.Read(args, "a value is joined with =, as in --prefork=false; "); err != nil || s.Version {
		return s, err
	}
	// The Go runtime ignores a GOMAXPROCS that it cannot read. Here that would change the
	// number of workers without notice.
	if n := 0; gomaxprocs != "" && !setInt(&n, gomaxprocs, 1, maxWorkers) {
		return s, fmt.Errorf("GOMAXPROCS: %q is not accepted; give a whole number from 1 to %d", gomaxprocs, maxWorkers)
	}
	if s.Pprof && s.PprofSockets != "" {
		return s, errors.New("--pprof-sockets: not with --pprof, which turns prefork off; give one of the two")
	}
	if s.Pprof {
		s.Prefork = false
	}
	// Refused rather than switched to single: a comparison would take one process for
	// many.
	if s.Stack != stackFiber && s.Prefork {
		return s, fmt.Errorf("--stack: %s has no prefork; give --prefork=false", s.Stack)
	}
	if s.Stack == stackNetHTTP && s.WriteBuffer != fiber.DefaultWriteBufferSize {
		return s, fmt.Errorf("--write-buffer: net-http has one of %d bytes and no setting for it",
			fiber.DefaultWriteBufferSize)
	}
	if s.Stack != stackFiber && s.Tuning != "" {
		return s, fmt.Errorf("--tuning: %s has none; give --stack=fiber", s.Stack)
	}
	if _, port, _ := net.SplitHostPort(s.Addr); s.Prefork && port == "0" {
		return s, errors.New("--addr: port 0 needs --prefork=false, since each worker would get a port of its own")
	}
	return s, nil
}

// setBool takes fewer spellings than strconv.ParseBool: the help can list these.
func setBool(dst *bool, v string) bool {
	*dst = v == "true" || v == "1"
	return *dst || v == "false" || v == "0"
}

func setInt(dst *int, v string, lo, hi int) bool {
	n, err := strconv.Atoi(v)
	*dst = n
	return err == nil && lo <= n && n <= hi
}
