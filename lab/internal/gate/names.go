package gate

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// The gates' names, as written in a trial's reasons.
const (
	// From the load generator's output.
	Non2xx     = "non-2xx"
	Timeouts   = "timeouts"
	Errors     = "errors"
	Resets     = "resets"
	Mismatches = "mismatches"
	NoRequests = "no-requests"
	RateShort  = "rate-short"
	SendLate   = "send-late"

	// Not closed any more; recorded runs name it.
	Misreport = "misreport"

	// From comparing answers with the route's.
	WrongAnswer = "wrong-answer"

	// From the server and the client.
	LostWorker   = "lost-worker"
	IdleWorker   = "idle-worker"
	ServerExited = "server-exited"
	ClientFailed = "client-failed"
	ClientHung   = "client-hung"
	Connections  = "connections"
	Little       = "littles-law"
	Stopped      = "stopped"
	Silent       = "silent"
	IdleServers  = "idle-server"
	Ledger       = "ledger"
	Slot         = "slot"

	// From profiles.
	ProfileFailed = "profile-failed"
	ProfileApart  = "profile-apart"

	// From the machine and the sampling.
	SlowCore    = "slow-core"
	OtherLoad   = "other-load"
	Steal       = "steal"
	Throttled   = "throttled"
	Swap        = "swap"
	Clock       = "clock"
	HeldUp      = "held-up"
	Window      = "window"
	NoTelemetry = "no-telemetry"
)

// A Kind says what may have caused a closed gate; gates.toml says more of each.
type Kind string

// The kinds.
const (
	Fault Kind = "fault"
	Shown Kind = "disturbance" // which refuses nothing
)

// A Gate is one reason for which a trial is invalid.
type Gate struct {
	Name   string `json:"name"`
	Closes string `json:"closes"` // its cause, as printed on pages
	Kind   Kind   `json:"-"`
}

//go:embed gates.toml
var text string

// limits are the thresholds that causes name.
var limits = map[string]any{"LeastShare": LeastShare, "SendLag": SendLag, "EachWorker": EachWorker,
	"LittleOff": LittleOff, "SilenceSlack": SilenceSlack, "Silence": Silence, "SilenceShare": SilenceShare,
	"IdleServer": IdleServer, "SlotOff": SlotOff, "SlotSlack": SlotSlack, "SlotBusy": SlotBusy, "ProfileSpread": ProfileSpread,
	"SlowBy": cores.SlowBy, "ForeignLoad": ForeignLoad, "StealShare": StealShare, "ClockStep": ClockStep,
	"StoodStill": StoodStill, "WindowOff": WindowOff, "WindowSlack": WindowSlack}

// file is gates.toml, with the thresholds in force.
var file = strict.Embedded[struct {
	Gates     []Gate
	Published map[string]string
	Kernels   []string
}](filled())

func filled() []byte {
	var b bytes.Buffer
	words := template.New("").Option("missingkey=error").Funcs(template.FuncMap{"percent": percent, "millis": millis})
	if err := template.Must(words.Parse(text)).Execute(&b, limits); err != nil {
		panic(err) // it is part of the program
	}
	return b.Bytes()
}

// All lists every gate, in the order in which pages show them.
var All = file.Gates

// Of finds a gate by its name.
func Of(name string) (Gate, bool) {
	return strict.First(All, func(g Gate) bool { return g.Name == name })
}

func percent(share float64) string { return fmt.Sprintf("%.4g %%", share*100) }

func millis(d time.Duration) string { return fmt.Sprintf("%.4g ms", d.Seconds()*1e3) }
