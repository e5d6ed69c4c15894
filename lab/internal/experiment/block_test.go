package experiment

import (
	"reflect"
	"strings"
	"testing"
)

func TestRefusesABlockThatCouldNotBeRun(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"no budget", "budget_s = 60\n", "", "budget_s is missing, or 0: say how many seconds"},
		{"a budget of nothing", "budget_s = 60", "budget_s = 0", "budget_s is missing, or 0"},
		{"a budget of more than a day", "budget_s = 60", "budget_s = 86401", "budget_s = 86401: above 0 and up to 86400"},
		{"a budget that is no number", "budget_s = 60", "budget_s = nan", "budget_s = NaN"},
		{"an endless budget", "budget_s = 60", "budget_s = inf", "budget_s = +Inf"},
		{"no block", "[block]\nslot_s = 0.1\nrounds = 6\nwarmup_s = 0.2\n", "",
			"block is missing, or empty: write a table [block] with slot_s, rounds and warmup_s"},
		{"an empty block", "slot_s = 0.1\nrounds = 6\nwarmup_s = 0.2\n", "", "block is missing, or empty"},
		{"a negative slot", "slot_s = 0.1", "slot_s = -0.1", "block.slot_s = -0.1: above 0 and up to 60"},
		{"a slot of more than a minute", "slot_s = 0.1", "slot_s = 60.5", "block.slot_s = 60.5"},
		{"a slot that is no number", "slot_s = 0.1", "slot_s = nan", "block.slot_s = NaN"},
		{"no rounds", "rounds = 6\n", "", "block.rounds = 0: 1 to 100"},
		{"negative rounds", "rounds = 6", "rounds = -6", "block.rounds = -6"},
		{"too many rounds", "rounds = 6", "rounds = 101", "block.rounds = 101"},
		{"more rounds than a number holds", "rounds = 6", "rounds = 9223372036854775808", "line 24"},
		{"a negative warm-up", "warmup_s = 0.2", "warmup_s = -0.2", "block.warmup_s = -0.2: 0 to 60"},
		{"a warm-up of more than a minute", "warmup_s = 0.2", "warmup_s = 61", "block.warmup_s = 61"},
		{"a warm-up that is no number", "warmup_s = 0.2", "warmup_s = nan", "block.warmup_s = NaN"},
		{"turns of autocannon", "http_load", "autocannon",
			"block.rounds = 6: autocannon measures in one piece; write rounds = 1"},
		{"turns of what is autocannon by default", "generator = \"http_load\"\n", "",
			"block.rounds = 6: autocannon measures"},
	} {
		if !strings.Contains(whole, c.old) {
			t.Fatalf("%s: %q does not stand in the made-up experiment", c.name, c.old)
		}
		if _, err := Parse("made-up", []byte(strings.Replace(whole, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	if _, err := Parse("made-up", []byte(strings.Replace(batches, "rounds = 1", "rounds = 2", 1))); err == nil ||
		!strings.Contains(err.Error(), "block.rounds = 2: sink measures in one piece") {
		t.Errorf("turns of the sink: %v", err)
	}
	for _, generator := range []string{"autocannon", "http_load"} {
		parse(t, strings.NewReplacer("http_load", generator, "rounds = 6", "rounds = 1").Replace(whole))
	}
	if x := parse(t, strings.Replace(whole, "warmup_s = 0.2\n", "", 1)); x.Block.WarmupS != 0 {
		t.Errorf("a warm-up that is left out is %v s", x.Block.WarmupS)
	}
}

func TestConditionsThatCanBeUpTogether(t *testing.T) {
	one := strings.Replace(whole, "rounds = 6", "rounds = 1", 1)
	for _, c := range []struct {
		name, text string
		want       [][]int
	}{
		{"all", whole, [][]int{{0, 1, 2, 3, 4, 5}}},
		{"a knob", strings.Replace(whole, "name = \"pipelining\"\nlevels = [1, 10]", "name = \"rps\"\nlevels = [false, true]",
			1), [][]int{{0, 2, 4}, {1, 3, 5}}},
		{"a generator that cannot turn", strings.Replace(one, "http_load", "autocannon", 1),
			[][]int{{0}, {1}, {2}, {3}, {4}, {5}}},
		{"two generators", strings.NewReplacer("generator = \"http_load\"\n", "", "name = \"pipelining\"\nlevels = [1, 10]",
			"name = \"generator\"\nlevels = [\"autocannon\", \"http_load\"]").Replace(one), [][]int{{0}, {1, 3, 5}, {2}, {4}}},
		{"profiles", profiling, [][]int{{0, 1, 2, 3, 4, 5}}},
		{"profiles of what cannot turn", strings.NewReplacer("http_load", "autocannon", "rounds = 6",
			"rounds = 1").Replace(profiling), [][]int{{0}, {1}, {2}, {3}, {4}, {5}}},
	} {
		text := c.text
		if strings.Contains(text, `"rps"`) || strings.Contains(text, `["autocannon"`) {
			// The third claim uses a factor that no longer exists.
			text = strings.Replace(text, `over = "pipelining"`, `over = "workers"`, 1)
		}
		if got := parse(t, text).Groups(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
