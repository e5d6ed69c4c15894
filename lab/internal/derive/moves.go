package derive

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Move is a claim whose verdict is another than before, on one machine or several.
type Move struct {
	Experiment string
	Claim      string
	Whose      pages.Whose
	Hosts      []HostMove
	Says       string // what all machines say now
	// Apart says that one machine reproduces the claim and another refutes it.
	Apart bool
}

// A HostMove is what one host's record said and says. One that said nothing has "".
type HostMove struct {
	Host     string // of the server
	Pair     string // with the client's host, if it is another
	From, To verdict.Verdict
}

// machines counts the independent machines among hosts: those that the server ran on.
func machines(hosts []HostMove) int {
	return len(strict.Set(hosts, func(h HostMove) string { return h.Host }))
}

// said is what each run of an experiment says, in the journal's order.
func said(j *archive.Journal, x *experiment.Experiment) (made []pages.Made) {
	asked := j.Question(x)
	for _, r := range j.Runs {
		if r.Experiment == x.Name {
			f := asked.Decide(x, j.Hosts[r.Hosts.Server], j.Record(x, r))
			made = append(made, pages.Made{File: f, Then: j.Then(x, r)})
		}
	}
	return made
}

// overHosts decides every claim on every host, by experiment.
func overHosts(j *archive.Journal) map[string]*pages.Hosts {
	whose, _ := Whose(j.Root) // lab derive tells what is wrong with a page
	out := map[string]*pages.Hosts{}
	for _, x := range j.Experiments {
		out[x.Name] = pages.OverHosts(x, whose, said(j, x), nil)
	}
	return out
}

// moves lists the claims that both have and whose verdict differs on a host, those on
// which machines are apart first.
func moves(from, to map[string]*pages.Hosts, order []string) (out []Move) {
	for _, name := range order {
		was, is := from[name], to[name]
		if is == nil {
			continue
		}
		for _, now := range is.Claims {
			var before pages.Summed
			if was != nil {
				before, _ = strict.First(was.Claims, func(s pages.Summed) bool { return s.ID == now.ID })
			}
			m := Move{Experiment: name, Claim: now.ID, Whose: now.Whose, Says: now.Says,
				Apart: now.Verdicts[verdict.Reproduced] > 0 && now.Verdicts[verdict.Refuted] > 0}
			if m.Hosts = hostMoves(before.Hosts, now.Hosts); len(m.Hosts) > 0 {
				out = append(out, m)
			}
		}
	}
	first := map[bool]int{true: -1}
	slices.SortStableFunc(out, func(a, b Move) int {
		return cmp.Or(first[a.Apart]-first[b.Apart], machines(b.Hosts)-machines(a.Hosts))
	})
	return out
}

func hostMoves(was, is []pages.OnHost) (out []HostMove) {
	pair := func(h pages.OnHost) string { return h.Hosts().String() }
	from := map[string]verdict.Verdict{}
	for _, h := range was {
		from[pair(h)] = h.Verdict
	}
	add := func(h pages.OnHost, before, now verdict.Verdict) {
		out = append(out, HostMove{Host: h.Host, Pair: pair(h), From: before, To: now})
	}
	for _, h := range is {
		p := pair(h)
		if from[p] != h.Verdict {
			add(h, from[p], h.Verdict)
		}
		delete(from, p)
	}
	for _, h := range was { // in their order
		if v, left := from[pair(h)]; left {
			add(h, v, "")
		}
	}
	return out
}

// byItsLab has the claims over all hosts as the lab of a past commit derives them from the
// journal of then. It is built from that commit's sources.
func byItsLab(past *archive.Past) (map[string]*pages.Hosts, error) {
	lab := past.Root.Path(".tools", "lab")
	build := exec.Command("go", "build", "-trimpath", "-o", lab, "./cmd/lab")
	build.Dir, build.Env = past.Root.Path("lab"), append(os.Environ(), "GOWORK=off")
	derive := exec.Command(lab, "derive")
	derive.Dir = string(past.Root)
	for _, cmd := range []*exec.Cmd{build, derive} {
		if said, err := cmd.CombinedOutput(); err != nil {
			first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
			return nil, fmt.Errorf("%s at %s: %w: %s", filepath.Base(cmd.Path), past.Commit, err, first)
		}
	}
	out := map[string]*pages.Hosts{}
	for _, x := range past.Experiments {
		h, err := OverHosts(past.Root, x)
		if err != nil {
			return nil, err
		}
		out[x.Name] = h
	}
	return out, nil
}
