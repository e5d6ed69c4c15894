package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestADesignThatCouldNotDecideIsRefused(t *testing.T) {
	w := newWorkshop(t)
	path := filepath.Join(w.root.Experiments(), counted+".toml")
	design := strings.Replace(fmt.Sprintf(workshopDesign, "97", true), "[[claims]]", `[[claims]]
id = "flat"
kind = "flat"
text = "It is flat."
why = "Made up."
metric = "throughput_rps"
over = "workers"
margin = 0.1
[[claims]]`, 1)
	for _, c := range []struct {
		budget string
		fits   bool
	}{{"budget_s = 60", true}, {"budget_s = 20", false}, {"budget_s = 1", false}} {

		w.write(path, strings.Replace(design, "budget_s = 60", c.budget, 1))
		w.call("verdicts")
		for _, args := range [][]string{{"check"}, {"verdicts"}} {
			status, out, errs := w.call(args...)
			if c.fits != (status == exitHeld) {
				t.Errorf("%s, lab %s: exit %d, %s%s", c.budget, args[0], status, out, errs)
			}
			if said := out + errs; !c.fits && !strings.Contains(said, "lab/experiments/"+counted+".toml: "+c.budget+": it holds ") {
				t.Errorf("%s, lab %s: %q", c.budget, args[0], said)
			}
		}
	}

	// Blocks of several runs add up, so what has been measured stands, if a run has a block.
	w.write(path, strings.Replace(design, "budget_s = 60", "budget_s = 20", 1))
	w.call("verdicts")
	if _, _, err := w.run(context.Background(), options{}); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := w.call("check"); status != exitHeld {
		t.Errorf("measured: exit %d, %s%s", status, out, errs)
	}
	w.write(path, strings.Replace(design, "budget_s = 60", "budget_s = 1", 1))
	if status, out, _ := w.call("check"); status != exitFailed || !strings.Contains(out, "budget_s = 1: it holds 0 blocks") {
		t.Errorf("measured, and without room for a block: exit %d, %s", status, out)
	}
}
