package run

import (
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

func TestGatesThatProcessesClose(t *testing.T) {
	for name, rows := range processes {
		for _, r := range rows {
			t.Run(name+"/"+r.what, func(t *testing.T) {
				t.Parallel()
				l := load{dir: t.TempDir(), link: &topology.Link{}, program: "sh", generator: setting.Fortio, window: time.Second, limit: r.limit,
					server: []string{"sh", "-c", "echo 'it is listening addr=nowhere' >&2; " + r.server}, client: []string{"sh", "-c", r.client}}
				trial, err := l.trial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var closed []string
				for _, reason := range trial.Reasons {
					if processes[reason.Gate] != nil && !slices.Contains(closed, reason.Gate) {
						closed = append(closed, reason.Gate)
					}
				}
				var want []string
				if r.closes != none {
					want = []string{r.closes}
				}
				if !slices.Equal(closed, want) {
					t.Errorf("closed %v, want %v: %+v", closed, want, trial.Reasons)
				}
			})
		}
	}
}
