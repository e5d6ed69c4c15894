package cores

import (
	"testing"
	"time"
)

func TestRunTimeIsSummedOverCores(t *testing.T) {
	const sched = "version 17\ntimestamp 4297299139\ncpu0 0 0 0 0 0 0 1000 20 30\ndomain0 3 0 0\ncpu1 0 0 0 0 0 0 500 20 30\n"
	const stat = "cpu  9 9 9 9 9\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu1 1 2 3 60 5 6 7 8 0 0\nintr 1\n"
	for _, c := range []struct {
		text        string
		cpus        []int
		first, last int
		want        time.Duration
		ok          bool
	}{
		{sched, []int{0}, 7, 7, 1000, true}, {sched, []int{0, 1}, 7, 7, 1500, true}, {sched, []int{2}, 7, 7, 0, false},
		{sched, nil, 7, 7, 0, false}, {stat, []int{1, 0}, 4, 5, 110, true}, {"\ncpu0 1 2 x 4 5\n", []int{0}, 3, 4, 0, false},
		{"\ncpu0 1 2\n", []int{0}, 4, 5, 0, false}, {"", []int{0}, 4, 5, 0, false},
	} {
		if got, ok := runTime([]byte(c.text), c.cpus, c.first, c.last, 1); got != c.want && c.ok || ok != c.ok {
			t.Errorf("%q of %v: %d, %v", c.text, c.cpus, got, ok)
		}
	}
}
