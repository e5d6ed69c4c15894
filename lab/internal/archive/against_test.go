package archive

import (
	"os"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// Each forgery is refused in one line, which names the file and the place.
func TestForgeriesAreRefusedInOneLine(t *testing.T) {
	design := archivetest.ThreadsDesign
	for _, c := range []struct {
		name  string
		forge func(r repository)
		says  []string // parts of the line
	}{
		{"a latency raised", func(r repository) { r.edit(r.measured(), `"latency_p50_s": [`, `"latency_p50_s": [1`) },
			[]string{"data/results/11-threads/", "/figures/latency_p50_s/0: "}},
		{"a run deleted", func(r repository) { r.remove(r.measured()) },
			[]string{"data/results/11-threads/", ": deleted; results are only ever added"}},
		{"all runs deleted, and a file where they were", func(r repository) {
			r.remove("data/results")
			r.remove("data/designs")
			archivetest.Write(r.t, r.root.Path("data/results"), "")
			r.remove("data/hosts")
		}, nil},
		{"a host changed", func(r repository) { r.edit(c6in, `"cores": 32`, `"cores": 64`) },
			[]string{c6in + ": /cores: 64, before 32; hosts are only ever added"}},
		{"an added run that is called invalid", func(r repository) {
			r.edit(r.measured(), `"of":"c1",`, `"of":"c1","reasons":[{"gate":"held-up","detail":"x"}],`)
		}, []string{"/trials/0/reasons: "}},
		{"a loosened bar", func(r repository) { r.edit(design, "margin = 0.25", "margin = 0.5") },
			[]string{design + `: claim "threads-flat": margin 0.5, before margin 0.25; a claim of an experiment that has runs stays`, `name "threads-flat" under [[withdrawn]]`}},
		{"a claim reversed in words", func(r repository) { r.edit(design, `text = "`, `text = "It is not so: `) },
			[]string{design + `: claim "threads-flat": text "It is not so: `, `, before "`,
				`list the former text under [[corrected]]`}},
		{"a claim reversed in words, with a correction of another claim's", func(r repository) {
			r.edit(design, `text = "`, `text = "It is not so: `)
			r.append(design, correctedText("threads-flat", "Other words."))
		}, []string{design + `: claim "threads-flat": text "It is not so: `}},
		{"a measured experiment hidden as planned", func(r repository) {
			text := strings.Replace(archivetest.Read(r.t, r.root.Path(design)), "core = true\n", "", 1)
			archivetest.Write(r.t, r.root.Path(design), "planned = \"x\"\n"+text)
		}, []string{design + ": planned: 1 run measured it, so the lab can; take planned away"}},
		{"a need taken away", func(r repository) { r.edit(design, "margin = ", "needs = { cores = 2 }\nmargin = ") },
			[]string{"needs.cores 2, before needs.cores 0"}},
		{"a claim of another metric", func(r repository) {
			r.edit(design, `metric = "threads_per_worker"`,
				`metric = "throughput_rps"`)
		}, []string{`metric "throughput_rps", before metric "threads_per_worker"`}},
		{"a claim reversed", func(r repository) {
			r.edit(design, `kind = "flat"`, `kind = "ratio"`)
			r.edit(design, "margin = 0.25", "at_least = 1.25")
		}, []string{design + `: claim "threads-flat": margin absent, before margin 0.25`}},
		{"a claim limited to some conditions",
			func(r repository) { r.edit(design, "margin = ", "at = { pipelining = 1 }\nmargin = ") }, []string{design + ": "}},
		{"a claim dropped", func(r repository) { r.edit(design, `id = "threads-flat"`, `id = "threads-flatter"`) },
			[]string{`claim "threads-flat": it is gone`}},
		{"an experiment deleted", func(r repository) { r.remove(design) },
			[]string{design + ": deleted, but runs were made with it"}},
		{"a figure of a text changed", func(r repository) { r.edit(text97, "800k", "950k") },
			[]string{text97 + `: figure "rate": printed is "950k", before "800k"; a figure stays as it was printed`,
				`add [[corrects]] with entry = "97"`}},
		{"a figure of a text taken for exact", func(r repository) { r.edit(text97, "unit", "exact = true\nunit") },
			[]string{`figure "rate": its unit, or how it was shortened`}},
		{"a figure of a text dropped", func(r repository) {
			archivetest.Write(r.t, r.root.Path(text97), printed[:strings.Index(printed, "[[figures]]")])
		}, []string{`figure "rate" is gone`}},
		{"a figure of a table changed", func(r repository) {
			r.edit(text97, `throughput_rps = "790k"`,
				`throughput_rps = "795k"`)
		},
			[]string{text97 + `: table "t": row c1: its levels or figures were changed; a figure stays as it was printed`}},
		{"a row of a table dropped", func(r repository) { r.edit(text97, rowAgain, "") },
			[]string{`table "t": row c2 is gone`}},
		{"a text deleted", func(r repository) { r.remove(text97) }, []string{text97 + ": deleted"}},
		{"a correction of another entry", func(r repository) {
			r.edit(text97, "800k", "950k")
			archivetest.Write(r.t, r.root.Path(entry98), strings.Replace(corrects, `"97"`, `"96"`, 1))
		}, []string{`figure "rate": printed`}},
		{"a design edited", func(r repository) {
			designs, _ := os.ReadDir(r.root.Path("data/designs"))
			r.edit("data/designs/"+designs[0].Name(), "margin = 0.25", "margin = 0.5")
		}, []string{"data/designs/", ": line ", " was changed; designs are only ever added"}},
		{"CRLF in a committed file", func(r repository) {
			archivetest.Write(r.t, r.root.Path(r.measured()),
				strings.ReplaceAll(archivetest.Read(r.t, r.root.Path(r.measured())), "\n", "\r\n"))
		}, []string{".json: its lines end with CRLF now"}},
		{"a link in place of a committed file", func(r repository) {
			archivetest.Write(r.t, r.root.Path("elsewhere.json"), archivetest.Read(r.t, r.root.Path(r.measured())))
			r.remove(r.measured())
			if err := os.Symlink("../../../elsewhere.json", r.root.Path(r.measured())); err != nil {
				r.t.Fatal(err)
			}
		}, []string{".json: no regular file now"}},

		// New files.
		{"a new file that is a link", func(r repository) {
			if err := os.Symlink("/etc/passwd", r.root.Host("new")); err != nil {
				r.t.Fatal(err)
			}
		}, []string{"data/hosts/new.json: no regular file"}},
		{"CRLF in a new file", func(r repository) {
			archivetest.Write(r.t, r.root.Host("new"), "{\r\n}\r\n")
		}, []string{"data/hosts/new.json: line 1: a carriage return"}},
		{"CRLF in a new text", func(r repository) {
			archivetest.Write(r.t, r.root.Text("98"), strings.ReplaceAll(strings.Replace(printed, "97", "98", 1), "\n", "\r\n"))
		}, []string{"data/texts/98.toml: line 1: a carriage return"}},
		{"a foreign file among results", func(r repository) {
			archivetest.Write(r.t, r.root.Path("data/results/11-threads/notes.txt"), "x")
		}, []string{"data/results/11-threads/notes.txt: only .json files belong there"}},
		{"blocks in another order", func(r repository) {
			f := r.run(2)
			f.Trials[0], f.Trials[1] = f.Trials[1], f.Trials[0]
			f.Trials[0].Seq, f.Trials[1].Seq = 1, 2
			r.add(f)
		}, []string{"data/results/11-threads/", ": /trials/"}},
		{"a control deleted", func(r repository) {
			f := r.run(2)
			f.Conditions = f.Conditions[:len(f.Conditions)-1]
			r.add(f)
		}, []string{"data/results/11-threads/", ": /trials/"}},
		{"a program of zeros", func(r repository) {
			f := r.run(2)
			b := f.Provenance.Binaries["fiber_server"]
			b.SHA256 = strings.Repeat("0", 64)
			f.Provenance.Binaries["fiber_server"] = b
			r.add(f)
		}, []string{"/provenance/binaries/fiber_server/sha256: zeros are no digest"}},
		{"a commit of zeros", func(r repository) {
			f := r.run(2)
			f.Provenance.Commit = strings.Repeat("0", 40)
			r.add(f)
		}, []string{"/provenance/commit: zeros name no commit"}},
		{"an experiment of zeros", func(r repository) {
			f := r.run(2)
			f.Provenance.ExperimentSHA256 = strings.Repeat("0", 64)
			r.add(f)
		}, []string{"/provenance/experiment_sha256: data/designs/" + strings.Repeat("0", 64) + ".toml: missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepository(t)
			c.forge(r)
			got := r.judged()
			if c.says == nil { // several files are gone
				if len(got) < 3 {
					t.Errorf("got %q", got)
				}
				return
			}
			if len(got) != 1 || strings.Contains(got[0], "\n") {
				t.Fatalf("want one line, got %q", got)
			}
			for _, part := range c.says {
				if !strings.Contains(got[0], part) {
					t.Errorf("%s\nlacks %q", got[0], part)
				}
			}
		})
	}
}

// What CONTRIBUTING allows is not reported.
func TestHonestContributionsAreInOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r repository)
	}{
		{"nothing", func(repository) {}},
		{"a run", func(r repository) { r.add(r.run(2)) }},
		{"a run that was committed", func(r repository) { r.add(r.run(2)); r.commit() }},
		{"a run of a dirty tree", func(r repository) {
			f := r.run(2)
			f.Provenance.Dirty = true
			r.add(f)
		}},
		{"other words and another budget", func(r repository) {
			r.edit(archivetest.ThreadsDesign, `question = "`, `question = "As before: `)
			r.edit(archivetest.ThreadsDesign, `budget_s = `, `budget_s = 1`)
		}},
		{"a claim in other words, listed as corrected", func(r repository) {
			was := r.text("threads-flat")
			r.edit(archivetest.ThreadsDesign, `text = "`, `text = "As before: `)
			r.append(archivetest.ThreadsDesign, correctedText("threads-flat", was))
		}},
		{"a claim withdrawn", func(r repository) {
			text := strings.Replace(archivetest.Read(r.t, r.root.Path(archivetest.ThreadsDesign)), `id = "threads-flat"`,
				`id = "threads-flatter"`, 1)
			archivetest.Write(r.t, r.root.Path(archivetest.ThreadsDesign), text+
				"\n[[withdrawn]]\nid = \"threads-flat\"\nwhy = \"Its margin was wide.\"\n")
		}},
		{"a figure more, and another place", func(r repository) {
			r.edit(text97, "headline", "first line")
			archivetest.Write(r.t, r.root.Path(text97), archivetest.Read(r.t, r.root.Path(text97))+
				"[[figures]]\nid = \"more\"\nplace = \"p\"\nprinted = \"1\"\n")
		}},
		{"a figure that an entry corrects", func(r repository) {
			r.edit(text97, "800k", "950k")
			archivetest.Write(r.t, r.root.Path(entry98), corrects)
		}},
		// What the revision got after the branch left it is not missing here.
		{"a branch that is behind", func(r repository) {
			r.git("checkout", "-q", "base")
			r.add(r.run(3))
			r.commit()
			r.git("checkout", "-q", "main")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepository(t)
			c.change(r)
			if got := r.judged(); len(got) > 0 {
				t.Errorf("%q", got)
			}
		})
	}
}

// A correction counts once: one that base had allows no further change.
func TestACorrectionAllowsOneChange(t *testing.T) {
	r := newRepository(t)
	archivetest.Write(t, r.root.Path(entry98), corrects)
	r.commit()
	r.git("branch", "-f", "base")
	r.edit(text97, "800k", "950k")
	if got := r.judged(); len(got) != 1 || !strings.Contains(got[0], `figure "rate"`) {
		t.Errorf("%q", got)
	}
}

// A committed example's figures change only when it is printed again.
func TestAnExampleKeepsItsFigures(t *testing.T) {
	r := newRepository(t)
	const p, was = "data/examples/fleet-scale.json", `{"date": "2026-01-02", "cpus": 2}`
	for now, says := range map[string]string{
		was: "", `{"date": "2026-01-02", "cpus": 4}`: p + ": changed, though by its own words it was printed when ",
		`{"date": "2026-01-03", "cpus": 4}`: "",
	} {
		archivetest.Write(t, r.root.Path(p), was)
		r.commit()
		r.git("branch", "-f", "base")
		archivetest.Write(t, r.root.Path(p), now)
		if got := strings.Join(r.judged(), "\n"); (got == "") != (says == "") || !strings.HasPrefix(got, says) {
			t.Errorf("%s: %q", now, got)
		}
	}
}

// A correction of a claim's text counts once, and stays.
func TestACorrectedTextIsLockedAgain(t *testing.T) {
	r := newRepository(t)
	was := r.text("threads-flat")
	r.edit(archivetest.ThreadsDesign, `text = "`, `text = "As before: `)
	r.append(archivetest.ThreadsDesign, correctedText("threads-flat", was))
	r.commit()
	r.git("branch", "-f", "base")
	r.edit(archivetest.ThreadsDesign, `text = "As before: `, `text = "It is not so: `)
	if got := r.judged(); len(got) != 1 || !strings.Contains(got[0], `before "As before: `) {
		t.Errorf("changed again: %q", got)
	}
	r.edit(archivetest.ThreadsDesign, `text = "It is not so: `, `text = "As before: `)
	r.edit(archivetest.ThreadsDesign, correctedText("threads-flat", was), "")
	if got := r.judged(); len(got) != 1 || !strings.Contains(got[0],
		`claim "threads-flat": a correction of its text is no longer under [[corrected]]`) {
		t.Errorf("the correction dropped: %q", got)
	}
}

// A withdrawn claim stays named, though no run that is kept had it.
func TestAWithdrawalStays(t *testing.T) {
	r := newRepository(t)
	const list = "\n[[withdrawn]]\nid = \"hasty\"\nwhy = \"It had no margin.\"\n"
	archivetest.Write(t, r.root.Path(archivetest.ThreadsDesign),
		archivetest.Read(t, r.root.Path(archivetest.ThreadsDesign))+list)
	r.commit()
	r.git("branch", "-f", "base")
	r.edit(archivetest.ThreadsDesign, "It had no margin.", "It had no margin at all.")
	if got := r.judged(); len(got) > 0 {
		t.Errorf("other words: %q", got)
	}
	r.edit(archivetest.ThreadsDesign, "id = \"hasty\"", "id = \"other\"")
	if got := r.judged(); len(got) != 1 || !strings.Contains(got[0], `claim "hasty" is no longer under [[withdrawn]]`) {
		t.Errorf("%q", got)
	}
}

// Claims may change as long as no trial was run.
func TestAClaimWithoutTrialsMayChange(t *testing.T) {
	r := newRepository(t)
	r.remove("data/results")
	r.remove("data/designs")
	f := r.run(2)
	f.Conditions, f.Trials, f.Provenance.Blocks, f.NotApplicable = []results.Condition{}, []results.Trial{}, 0,
		"no wire here"
	f.Provenance.Binaries, f.Provenance.CalibrationS, f.Provenance.Ended = nil, 0, ""
	r.add(f)
	r.commit()
	r.git("branch", "-f", "base")
	r.edit(archivetest.ThreadsDesign, "margin = 0.25", "margin = 0.5")
	if got := r.judged(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

func TestAgainstNeedsARevision(t *testing.T) {
	r := newRepository(t)
	for base, says := range map[string]string{
		"none":        `no revision "none"`,
		"--all":       `no revision "--all"`,
		"HEAD:lab":    `no revision "HEAD:lab"`,
		"HEAD^{tree}": `no revision "HEAD^{tree}"`,
	} {
		if _, err := Against(r.root, base); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", base, err)
		}
	}
	r.git("checkout", "-q", "--orphan", "other")
	r.commit()
	if _, err := Against(r.root, "base"); err == nil || !strings.Contains(err.Error(), "no commit in common") {
		t.Errorf("an unrelated branch: %v", err)
	}
	r.remove(".git")
	if _, err := Against(r.root, "base"); err == nil ||
		!strings.Contains(err.Error(), "cannot compare with base: no git history") {
		t.Errorf("no git: %v", err)
	}
}
