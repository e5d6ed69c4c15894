package contest

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// What is shown is what is measured: the file that is shown reads as the design.
func TestTheExperimentThatIsShownIsMeasured(t *testing.T) {
	none := 0.0
	o := options()
	for i, of := range []string{"a", "a", "b", "b"} {
		o.Servers = append(o.Servers, Server{Name: of + "@" + []string{"4", "16"}[i%2], Of: of,
			Connections: []int{4, 16}[i%2], Command: []string{"/bin/true", of, "{port}"}, Base: i - i%2})
	}
	o.Claims = []experiment.Claim{{ID: "claim-1", Kind: experiment.Monotonic, Over: "connections", Metric: throughput,
		Margin: &none, Text: "It falls.", Why: "It is said.", Levels: []any{16, 4}, At: map[string]any{"server": o.ID(2)}}}
	var shown []byte
	o.Show = func(text []byte) error { shown = text; return nil }
	x, err := o.Design("/", 50*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := experiment.Parse(x.Name, shown)
	if err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	if !bytes.Equal(x.Text, shown) || x.SHA256 != again.SHA256 || !reflect.DeepEqual(x, again) {
		t.Errorf("the design is not what is shown:\n%s", shown)
	}
	conditions := x.Conditions()
	if len(conditions) != len(o.Servers) {
		t.Fatalf("%v", conditions)
	}
	for i, s := range o.Servers {
		n, _ := conditions[i]["connections"].Int()
		if conditions[i]["server"].String() != o.ID(i) || int(n) != s.Connections {
			t.Errorf("condition %d is %v, and the server %+v", i, conditions[i], s)
		}
		if c, p := o.load(s); o.target(s, "h:1").Connections != s.Connections || c != s.Connections || p != o.Pipelining {
			t.Errorf("%s is asked on %d connections", s.Name, c)
		}
	}
	if len(x.Servers) != 2 || x.Servers[o.ID(0)].Title != "a" || x.Servers[o.ID(3)].Title != "b" || len(x.Claims) != 1 {
		t.Errorf("%v", x.Servers)
	}
	if o.Servers[3].Connections = 8; o.ID(3) != o.ID(2) {
		t.Error(o.ID(3))
	} else if _, err := o.Design("/", 50*time.Millisecond, nil); err == nil {
		t.Error("loads that not all servers have are taken")
	}
}
