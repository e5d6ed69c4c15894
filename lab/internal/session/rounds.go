package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// An outcome is what came of one experiment so far.
type outcome struct {
	experiment *experiment.Experiment
	record     *record
	runs       []*results.File // made by this session
	verdicts   *verdict.File   // now; nil while there are none
	unmade     string          // the reason for measuring nothing
	unable     bool            // this machine cannot measure it: its claims are not applicable
	over       bool            // no further block is possible or needed

	run    *run.Run        // under way; nil if none is
	told   map[string]bool // faults and claims already printed
	clear  int             // blocks that decide its claims if all agree
	needs  []int           // for each open claim, about how many further blocks decide it
	block  time.Duration   // about how long one takes
	blocks int             // made by this session
	left   time.Time       // when the last one ended
}

// spend measures one block after the other until the budget is spent, and keeps what is under way then.
func (s *Session) spend(ctx context.Context) (failed error) {
	for failed == nil {
		o, wait := s.next()
		if o == nil {
			break
		}
		if wait > 0 && s.sleep(ctx, wait) != nil {
			failed = errors.New("interrupted between two blocks")
		} else if err := s.measureBlock(ctx, o); err != nil {
			failed = fmt.Errorf("%s: %w", o.experiment.Name, interrupted(ctx, err))
		}
	}
	why := results.Budget
	if failed != nil {
		why = results.Interrupted
	}
	for _, o := range s.outcomes {
		if o.run != nil && o.run.File.Provenance.Blocks > 0 {
			failed = errors.Join(failed, s.end(o, why))
		}
		if o.unmade == "" && failed != nil {
			o.unmade = "something failed before"
		} else if o.unmade == "" {
			o.unmade = fmt.Sprintf("it takes about %s, in %s at least %s apart, for which the budget has no room",
				words.Duration(time.Duration(o.clear)*o.block), words.Count(o.clear, "block"), words.Duration(results.BlockGap))
		}
	}
	return failed
}

// interrupted is why a block failed: an interruption, whatever it led to, but for a setting that it left changed.
func interrupted(ctx context.Context, err error) error {
	left, changed := errors.AsType[run.Unrestored](err)
	switch {
	case ctx.Err() == nil:
		return err
	case changed:
		return fmt.Errorf("interrupted; %w", left)
	}
	return errors.New("interrupted")
}

// measureBlock measures one block of an experiment, and keeps its run where no further one follows.
func (s *Session) measureBlock(ctx context.Context, o *outcome) error {
	began := s.Now()
	if o.run == nil {
		if err := s.begin(o); err != nil {
			return err
		}
	}
	f := o.run.File
	trials, err := s.block(o.run, ctx)
	if err != nil {
		return err
	}
	o.blocks++
	o.left = s.Now()
	// The mean, with the first estimate as one more block; one that a busy machine held up for long counts for twice it.
	o.block += (min(o.left.Sub(began), 2*o.block) - o.block) / time.Duration(o.blocks+1)
	o.verdicts = o.record.with(f)
	o.expect()
	p, decided := f.Provenance, s.Blocks == 0 && verdict.Decided(o.verdicts)
	switch {
	case p.StoppedEarly != "":
		p.Ended = results.Failing
	case decided:
		p.Ended = results.Decided
	case f.Full(), o.blocks == s.Blocks:
		p.Ended = results.Blocks
	}
	o.over = p.StoppedEarly != "" || decided || o.blocks == s.Blocks
	if s.tellBlock(o, trials); p.Ended != "" {
		return s.end(o, p.Ended)
	}
	return s.save(o.run)
}

// begin starts a run of an experiment.
func (s *Session) begin(o *outcome) (err error) {
	p := s.plan(o.experiment)
	p.Budget = max(time.Second, s.until.Sub(s.Now()).Round(time.Second))
	p.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	if o.run, err = s.start(p); err != nil {
		return err
	}
	path := s.destination().Result(o.experiment.Name, o.run.File.Run)
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s exists already; results are only ever added: set the clock right", path)
	}
	s.Show(fmt.Sprintf("%s (a block takes about %s): %s", o.experiment.Name, words.Duration(o.block), o.experiment.Title), true)
	s.Due()
	return nil
}

// end keeps a run with the blocks that it has, and with its raw profiles, which the results file names.
func (s *Session) end(o *outcome, why results.Ended) error {
	r := o.run
	o.run = nil
	r.File.Provenance.Ended = why
	packed, err := r.Raw()
	if err == nil && packed != nil {
		err = s.write(s.destination().Packed(r.File.Experiment+"/"+r.File.Run+"/c"), packed)
	}
	if err == nil {
		err = s.save(r)
	}
	if err != nil {
		return err
	}
	o.runs = append(o.runs, r.File)
	o.record.runs = append(o.record.runs, verdict.Run{File: r.File, Then: o.experiment})
	if why == results.Interrupted {
		s.Say("kept %s of a run of %s that was cut short", words.Count(r.File.Provenance.Blocks, "block"), o.experiment.Name)
	}
	return nil
}

// tellBlock shows the progress after a block. It prints each fault once, and each claim when it is
// decided.
func (s *Session) tellBlock(o *outcome, trials []results.Trial) {
	f := o.run.File
	p := f.Provenance
	once := func(key, format string, args ...any) {
		if !o.told[key] {
			o.told[key] = true
			s.Say("  "+format, args...)
		}
	}
	for _, t := range trials {
		for _, why := range t.Reasons {
			c, _ := strict.Find(f.Conditions, func(c results.Condition) bool { return c.ID == t.Condition })
			once(why.Gate, "%s block %d  %s: invalid: %s: %s", f.Experiment, p.Blocks, c.Levels.Key(), why.Gate, why.Detail)
		}
	}
	for _, note := range f.Warnings {
		once(note, "%s", note)
	}
	for _, c := range o.verdicts.Claims {
		if key := o.experiment.Name + "/" + c.ID; decided(c) {
			once(key, "%s is %s: %s", key, c.Verdict.Word(), c.Reason)
		}
	}
	last := ""
	if p.Ended != "" {
		last = fmt.Sprintf(", the last (%s)", p.Ended)
	}
	took, left := words.Duration(s.Now().Sub(s.began)), words.Duration(max(0, s.until.Sub(s.Now())))
	s.Show(fmt.Sprintf("  %s block %d%s: %s, at most %s left, %d of %d claims decided", f.Experiment, p.Blocks, last,
		took, left, s.count(verdict.Confirmed, verdict.Refuted), s.count(verdict.Confirmed, verdict.Refuted, verdict.Open)),
		p.Ended != "")
}

// claims are those of the experiment, with their verdicts now. An unmeasured claim is open.
func (o *outcome) claims() []verdict.Claim {
	if o.verdicts != nil {
		return o.verdicts.Claims
	}
	not := verdict.Open
	if o.unable {
		not = verdict.NotApplicable
	}
	return strict.Map(o.experiment.Claims, func(c experiment.Claim) verdict.Claim {
		return verdict.Claim{ID: c.ID, Verdict: not, Reason: "not measured: " + o.unmade}
	})
}

// count is how many claims of the call have one of these verdicts.
func (s *Session) count(of ...verdict.Verdict) (n int) {
	for _, o := range s.outcomes {
		n += strict.Count(o.claims(), func(c verdict.Claim) bool { return slices.Contains(of, c.Verdict) })
	}
	return n
}

func decided(c verdict.Claim) bool {
	return c.Verdict == verdict.Confirmed || c.Verdict == verdict.Refuted
}

// report prints the table of claims, the paths of the results, how disturbed the machine was, in how many
// blocks faults were, and how many claims are decided.
func (s *Session) report(out io.Writer) {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLAIM\tVERDICT\tFIGURES")
	for _, o := range s.outcomes {
		for _, c := range o.claims() {
			fmt.Fprintf(table, "%s/%s\t%s\t%s\n", o.experiment.Name, c.ID, c.Verdict.Word(), c.Reason)
		}
	}
	table.Flush()
	fmt.Fprintln(out)
	var figures []map[string]float64
	blocks, refused, shared := 0, 0, false
	for _, o := range s.outcomes {
		for _, f := range o.runs {
			fmt.Fprintf(out, "results: %s\n", s.j.Root.Rel(s.destination().Result(f.Experiment, f.Run)))
			blocks += f.Provenance.Blocks
			shared = shared || f.SharedCores()
			faulty := map[int]bool{}
			for _, t := range f.Trials {
				figures = append(figures, t.Metrics)
				if !t.Valid {
					faulty[t.Block] = true
				}
			}
			refused += len(faulty)
		}
	}
	if why := gate.Disturbed(figures, shared); why != "" {
		fmt.Fprintln(out, why)
	}
	if refused > 0 {
		fmt.Fprintf(out, "faults refused trials in %d of %s\n", refused, words.Count(blocks, "block"))
	}
	open, not := s.count(verdict.Open), s.count(verdict.NotApplicable)
	decided := s.count(verdict.Confirmed, verdict.Refuted)
	if open > 0 && !s.Scratch {
		fmt.Fprintln(out, "the same command goes on from here: its blocks count")
	}
	fmt.Fprintf(out, "%d of %s decided here; %d not applicable\n", decided, words.Count(open+decided+not, "claim"), not)
}
