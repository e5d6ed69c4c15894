package verdict

import (
	"math"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// metricPhrase is a metric's label inside a sentence: it begins in lower case,
// except for acronyms. A bare percentile is said to be one of latency.
func metricPhrase(name string) string {
	m, ok := metric.Lookup(name)
	if !ok {
		return strings.ReplaceAll(name, "_", " ")
	}
	// Labels are column heads; in a sentence some need a noun.
	switch name {
	case "delivered_per_s", "logged_per_s":
		return "the rate " + words.LowerFirst(m.Label)
	case "limit_per_s":
		return "the highest rate delivered"
	}
	if strings.HasPrefix(name, "latency_") && !strings.Contains(strings.ToLower(m.Label), "latency") {
		return words.LowerFirst(m.Label) + " latency"
	}
	return words.LowerFirst(m.Label)
}

// wallPhrase names a wall in a sentence.
func wallPhrase(bound string) string {
	switch bound {
	case "server-cpu":
		return "the server's CPU"
	case "client-cpu":
		return "the client's CPU"
	}
	return "the " + bound
}

// printRatio prints a ratio. Near 1, where margins are small, it has three
// digits after the point; elsewhere as many as its interval justifies or,
// without an interval, three in all.
func printRatio(v float64, low, high *float64) string {
	return strconv.FormatFloat(v, 'f', ratioDigits(v, low, high), 64)
}

func ratioDigits(v float64, low, high *float64) int {
	if math.Abs(v-1) < 0.2 {
		return 3
	}
	return max(0, min(3, -words.LastPlace(v, low, high)))
}

// printEdge prints an edge as the claim has it. An edge computed from a margin may
// have endless digits; four are enough.
func printEdge(v float64) string {
	if s := strconv.FormatFloat(v, 'g', -1, 64); len(s) <= 6 {
		return s
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
