package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// collectKeys makes what references with a key alone mean, by subject and key:
//
//	lab KEY          a threshold of the method: alpha, cpu_saturated, …
//	claims KEY       how many there are by what they need: all, here, wire, root, cores, machines
//	simulation KEY   a figure of the simulated campaigns
//	BOARD KEY        how many rows of a public board's table there are, could be held against Little's law, and break it
//	entry NUMBER     a link; Entry NUMBER at the beginning of a sentence
//	MACHINE          a link; with a key how many cores it has, or what its line carries
//	term NAME        what a word of the journal's own means
func (s *Site) collectKeys() error {
	s.keys = map[string]map[string]Number{"lab": thresholds(), "claims": s.countClaims(), "term": s.terms(),
		"simulation": {}, "entry": {}, "Entry": {}}
	var simulated struct {
		Shown map[string]string `json:"shown"`
	}
	if err := json.Unmarshal(verdict.Simulation, &simulated); err != nil {
		return err
	}
	for key, text := range simulated.Shown {
		s.keys["simulation"][key] = Number{Text: text}
	}
	for number, n := range s.entries {
		link := Number{Text: strings.ToLower(n.Said), To: n.To, Title: n.Title}
		s.keys["entry"][number] = link
		link.Text = words.UpperFirst(link.Text)
		s.keys["Entry"][number] = link
	}
	for id, h := range s.Hosts {
		s.keys[id] = map[string]Number{"": {Text: s.machines[id], To: machinePath(id)}}
		for key, v := range map[string]float64{"cores": float64(h.Cores), "line_rate_bps": h.LineRateBps} {
			if v > 0 {
				s.keys[id][key] = Number{Text: amount(key, v), Value: &v}
			}
		}
	}
	return s.boards()
}

// thresholds are those of the method in force.
func thresholds() map[string]Number {
	all := map[string]Number{}
	for key, v := range map[string]float64{"alpha": stats.Alpha, "control_alpha": verdict.ControlAlpha,
		"bold": confseq.Bold, "max_visits": confseq.MaxNeeded,
		"least_visits": float64(stats.Fewest(stats.Level(1, 1))), "most_lost": verdict.MostLost,
		"visit_gap_s": results.VisitGap.Seconds(), "visit_span_s": results.VisitSpan.Seconds(),
		"cpu_saturated": gate.CPUSaturated, "wire_saturated": gate.WireSaturated} {
		all[key] = Number{Text: words.Percent(v), Value: &v}
		if v >= 1 {
			all[key] = Number{Text: words.Grouped(v, 0), Value: &v}
		}
	}
	return all
}

// countClaims counts claims by what a machine needs to test them. Two cores alone are "here", and "wire" those of them
// that need a wire between two namespaces. Others need a setting that only root may change, more than two cores, or a
// second machine. A claim that needs several things is counted once, by the last of these.
func (s *Site) countClaims() map[string]Number {
	n := map[string]int{"all": 0, "here": 0, "wire": 0, "root": 0, "cores": 0, "machines": 0}
	for _, x := range s.Experiments {
		for _, c := range x.Claims {
			n["all"]++
			switch d := x.Needs(c); {
			case x.Topology.Kind == "fleet":
				n["machines"]++
			case d.Cores > 2: // the smallest machine on which the lab runs
				n["cores"]++
			case d.Root:
				n["root"]++
			default:
				n["here"]++
				if x.Topology.Kind == "netns" {
					n["wire"]++
				}
			}
		}
	}
	return counts(n)
}

func counts(of map[string]int) map[string]Number {
	all := map[string]Number{}
	for key, n := range of {
		v := float64(n)
		all[key] = Number{Text: words.Thousands(n), Value: &v}
	}
	return all
}

var meaning = regexp.MustCompile(`(?m)^([^\n:#]+)\n: (.*)$`)

// terms are the words that the reference explains under its heading Words, with their meanings as Markdown.
func (s *Site) terms() map[string]Number {
	all := map[string]Number{}
	for _, p := range s.pages {
		_, glossary, _ := bytes.Cut(p.text, []byte("{#words}"))
		for _, m := range meaning.FindAllSubmatch(glossary, -1) {
			name, _, _ := strings.Cut(string(m[1]), ",")
			all[name] = Number{Text: strings.ReplaceAll(string(m[2]), "](#", "](/reference#")}
		}
	}
	return all
}

// boards judges the tables of public boards. The file data/boards/ID.toml describes a board, and
// its tables lie beside it.
func (s *Site) boards() error {
	paths, err := filepath.Glob(s.Root.Path("data", "boards", "*.toml"))
	for _, path := range paths {
		var board struct {
			Date   string `toml:"date"` // of the figures
			Tables []struct {
				File  string `toml:"file"`  // without .csv
				Added string `toml:"added"` // why its latencies are not those of the requests alone
				Means bool   `toml:"means"` // each figure is a mean of its own over several runs
			} `toml:"tables"`
		}
		text, err := os.ReadFile(path)
		if err = cmp.Or(err, toml.Unmarshal(text, &board)); err != nil {
			return fmt.Errorf("%s: %w", s.Root.Rel(path), err)
		}
		for _, t := range board.Tables {
			path = filepath.Join(filepath.Dir(path), t.File+".csv")
			text, err := os.ReadFile(path)
			of, other := law.Judge(t.File, text, law.Options{Averaged: t.Means, Added: t.Added})
			if err = cmp.Or(err, other); err == nil && of.Of[law.Unread] > 0 {
				err = fmt.Errorf("%s could not be read; the first: %s", words.Count(of.Of[law.Unread], "row"),
					of.Findings[0].Says)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", s.Root.Rel(path), err)
			}
			broken := of.Laws[law.InFlight].Broken
			held := of.Laws[law.InFlight].Held + broken
			all := counts(map[string]int{"rows": of.Rows, "held": held, "broken": broken})
			all["date"], all["share"] = Number{Text: board.Date}, Number{Text: "none"}
			if broken > 0 {
				all["share"] = Number{Text: words.Share(float64(broken) / float64(held))}
			}
			s.keys[t.File] = all
		}
	}
	return err
}
