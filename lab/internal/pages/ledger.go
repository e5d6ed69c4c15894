package pages

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Ledger has what each machine says about each claim, in one file to
// download. The reasons are in the files of the experiments.
type Ledger struct {
	SchemaVersion int           `json:"schema_version"`
	Claims        []LedgerClaim `json:"claims"`
}

// A LedgerClaim is one claim of the ledger.
type LedgerClaim struct {
	Entry      string                  `json:"entry"`
	Experiment string                  `json:"experiment"`
	Claim      string                  `json:"claim"`
	Kind       string                  `json:"kind"`
	Text       string                  `json:"text"`
	Whose      Whose                   `json:"whose"`
	Criterion  string                  `json:"criterion"`
	Says       string                  `json:"says"`
	Verdicts   map[verdict.Verdict]int `json:"verdicts"`
	Machines   []OnHost                `json:"machines"` // without words

}

// LedgerVersion is the schema version of the ledger's file.
const LedgerVersion = 1

// NewLedger is an empty ledger.
func NewLedger() *Ledger { return &Ledger{SchemaVersion: LedgerVersion, Claims: []LedgerClaim{}} }

// Add adds the claims of an experiment.
func (l *Ledger) Add(x *experiment.Experiment, h *Hosts) {
	for i, c := range x.Claims {
		of := h.Claims[i]
		claim := LedgerClaim{Entry: x.Entry, Experiment: x.Name, Claim: c.ID, Kind: string(c.Kind), Text: c.Text,
			Whose:     of.Whose,
			Criterion: of.Criterion, Says: of.Says, Verdicts: of.Verdicts, Machines: []OnHost{}}
		for _, on := range of.Hosts {
			on.Reason, on.Runs, on.Text, on.Interval, on.Of = "", 0, "", "", ""
			claim.Machines = append(claim.Machines, on)
		}
		l.Claims = append(l.Claims, claim)
	}
}

// CSV is the ledger with one line for each claim and machine; a claim that no
// machine measured has a line without one.
func (l *Ledger) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Writing to a buffer cannot fail by itself; Error reports anything else.
	_ = w.Write([]string{"entry", "experiment", "claim", "kind", "whose", "text", "host", "run", "verdict", "blocks",
		"for", "against", "ratio", "low", "high"})
	for _, c := range l.Claims {
		head := []string{c.Entry, c.Experiment, c.Claim, c.Kind, string(c.Whose), c.Text}
		if len(c.Machines) == 0 {
			_ = w.Write(strict.Cells(append(head, make([]string, 9)...)))
		}
		for _, m := range c.Machines {
			row := append(head[:len(head):len(head)], m.Host, m.Run, string(m.Verdict), strconv.Itoa(m.Blocks),
				strconv.Itoa(m.For), strconv.Itoa(m.Against))
			for _, v := range []float64{m.Ratio, m.Low, m.High} {
				cell := ""
				if v > 0 {
					cell = strconv.FormatFloat(v, 'g', -1, 64)
				}
				row = append(row, cell)
			}
			_ = w.Write(strict.Cells(row))
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
