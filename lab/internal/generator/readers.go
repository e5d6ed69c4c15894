package generator

import (
	"math"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

const readersProgram = "event_reader"

// ofReaders are the figures that every trial must have: of the window, and of the account of the whole trial.
var ofReaders = []string{
	"connections", "open", "shards_used", "bytes_per_connection", "likes_per_s", "offered_per_s", "refused", "events", "bytes",
	"missed", "repeated", "reordered",
	"account.due", "account.lost_broadcast", "account.lost_shard", "account.lost_subscriber", "account.lost_left",
	"account.lost_socket", "account.written", "account.received",
}

// ofPushes are those of a server that pushes to another process.
var ofPushes = []string{"offered", "merged", "unrouted", "full", "failed", "pushed", "push_s"}

// A readersOutput is what is no figure.
type readersOutput struct {
	own
	Account struct{ Push any }
	Faults  []struct{ Kind, First string }
}

// ParseReaders reads a trial's standard output, which is one line.
//
// An event that a reader had counts as an answered request, so that costs a request are costs an event.
// The ledger is added up here again. Events that are lost where the server says so do not make a trial
// invalid: such trials are about them. A fault of a connection does, and a like that was refused.
func ParseReaders(stdout []byte) (*Result, error) {
	var s readersOutput
	o, err := readOwn(readersProgram, stdout, &s, &s.own)
	if err == nil {
		err = o.usable(ofReaders...)
	}
	pushes := s.Account.Push != nil
	for _, name := range ofPushes {
		if err == nil && pushes {
			err = o.usable("account.push." + name)
		}
	}
	if err != nil {
		return nil, err
	}
	of := o.figures
	r := Of(s.Start, s.Finish, Counts{OK: of["events"], Bytes: of["bytes"]})
	for _, name := range []string{"errors", "timeouts", "resets"} { // the account and the faults have them
		delete(r.Metrics, name)
	}
	for _, f := range s.Faults {
		fault(r, gate.Errors, "%s: %s", f.Kind, f.First)
	}
	if n := of["refused"]; n > 0 {
		fault(r, gate.Non2xx, "%.0f likes were refused, or their connection failed", n)
	}
	share := func(name string, part, whole float64) {
		if whole > 0 {
			r.Metrics[name] = part / whole
		}
	}
	a := func(name string) float64 { return of["account."+name] }
	lost := a("lost_broadcast") + a("lost_shard") + a("lost_subscriber") + a("lost_left") + a("lost_socket")
	unaccounted := math.Abs(a("due")-lost-a("written")) + math.Abs(a("written")-a("received"))
	p := func(name string) float64 { return of["account.push."+name] }
	if pushes {
		unaccounted += math.Abs(p("offered") - p("merged") - p("unrouted") - p("full") - p("failed") - p("pushed"))
		share("lost_push_share", p("full"), p("offered"))
		share("push_mean_s", p("push_s"), p("pushed")+p("failed"))
		if p("failed") > 0 {
			fault(r, gate.Errors, "%.0f pushes failed", p("failed"))
		}
	}
	m := r.Metrics
	m["delivered_per_s"], m["offered_per_s"] = m["throughput_rps"], of["offered_per_s"]
	m["likes_per_s"], m["connections_established"] = of["likes_per_s"], of["open"]
	m["unaccounted_events"], m["duplicate_events"] = unaccounted, of["repeated"]+of["reordered"]
	m["shards_used"], m["server_bytes_per_connection"] = of["shards_used"], of["bytes_per_connection"]
	share("lost_broadcast_share", a("lost_broadcast"), a("due"))
	share("lost_shard_share", a("lost_shard"), a("due"))
	share("lost_subscriber_share", a("lost_subscriber"), a("due"))
	share("pushed_delivered_share", a("written"), a("due"))
	for name, at := range map[string]string{"delivery_p50_s": "delivery_s.p50", "delivery_p99_s": "delivery_s.p99",
		"first_event_p99_s": "first_event_s.p99"} {
		if v, ok := of[at]; ok {
			m[name] = v
		}
	}
	return r, nil
}
