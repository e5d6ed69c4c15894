package audit

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

func TestQuantitiesAreRoundedWhereTheirWidthLeavesThemUncertain(t *testing.T) {
	for _, c := range []struct {
		q                    law.Quantity
		unit                 metric.Unit
		printed              string
		table, prose, limits string
	}{
		{law.Around(0.93, 0.005), metric.Ratio, "93%", "93.0 %", "93.0 %", "92.5 to 93.5 %"},
		{law.Exactly(5600), metric.Bytes, "", "5,600 B", "5,600 B", ""},
		{law.Exactly(6.2222e9), metric.BytesPerSecond, "", "6.2222 GB/s", "6.22 GB/s", ""},
		{law.Around(3.5, 0.05), metric.Ratio, "3.5×", "3.50×", "3.50×", "3.45 to 3.55×"},
		{law.Around(230, 5), metric.Ratio, "2,300x", "230×", "230×", "225 to 235×"},
		{law.Exactly(2), metric.PerSecond, "120/min", "120/min", "120/min", ""},
	} {
		table, prose, limits := (&Finding{Unit: c.unit, Printed: c.printed}).print(c.q)
		if table != c.table || prose != c.prose || limits != c.limits {
			t.Errorf("%+v: %q, %q, %q; want %q, %q, %q", c.q, table, prose, limits, c.table, c.prose, c.limits)
		}
	}
}
