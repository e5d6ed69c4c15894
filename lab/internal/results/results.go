// Package results defines the results file: what a run leaves behind, and the only source of verdicts and pages.
//
// A trial is one condition in one block; its figures follow from the sums over its slots. Figures of the machine (steal,
// other load, calibrations, the clock) cover all conditions that were up together and are repeated in each of their
// trials. A file has only complete blocks, every trial among them, an invalid one with its reasons. A figure that was
// not measured is absent rather than zero.
//
// The file has readings, not their meaning: the lab derives verdicts each time, so that a better rule applies to old
// runs too. It does not trust files: reading computes the figures that follow from others, and Check compares the rest.
package results

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Version is the schema version of results files; any other is refused by name.
const Version = 3

// A File is one run of one experiment.
type File struct {
	SchemaVersion int                 `json:"schema_version"`
	Experiment    string              `json:"experiment"`
	Run           string              `json:"run"`
	Hosts         Hosts               `json:"hosts"`
	Provenance    *Provenance         `json:"provenance"`
	Topology      experiment.Topology `json:"topology"`
	Settings      setting.Levels      `json:"settings"`
	Conditions    []Condition         `json:"conditions"`
	Trials        []Trial             `json:"trials"`
	// Figures and Resolutions hold the trials' maps as columns in the file's text, nil where a trial lacks a figure.
	// In a File in memory they are nil: Decode moves them to the trials, Encode takes them from there.
	Figures     map[string][]*float64 `json:"figures,omitempty"`
	Resolutions map[string][]*float64 `json:"resolutions,omitempty"`
	Warnings    []string              `json:"warnings,omitempty"`
}

// Provenance is what a reader needs to run the experiment again or to question the run.
type Provenance struct {
	StartedAt        time.Time                    `json:"started_at"`
	FinishedAt       time.Time                    `json:"finished_at"`
	Commit           string                       `json:"commit"`
	Dirty            bool                         `json:"dirty"`
	ExperimentSHA256 string                       `json:"experiment_sha256"`
	Locks            *experiment.Locks            `json:"locks"` // what the claims were
	Block            *BlockPlan                   `json:"block"`
	BudgetS          float64                      `json:"budget_s"`
	Blocks           int                          `json:"blocks"`
	Ended            Ended                        `json:"ended"`
	Seed             uint64                       `json:"seed"`
	Generator        string                       `json:"generator"`
	ServerCPUs       string                       `json:"server_cpus,omitempty"`
	ClientCPUs       string                       `json:"client_cpus,omitempty"`
	Tools            map[string]string            `json:"tools"`
	Servers          map[string]experiment.Server `json:"servers,omitempty"`
	Binaries         map[string]host.Binary       `json:"binaries,omitempty"`
	Kernel           map[string]string            `json:"kernel"`
	Boot             string                       `json:"boot,omitempty"`
	MemoryBytes      int64                        `json:"memory_bytes,omitempty"`
	Commands         []string                     `json:"commands,omitempty"`
	CalibrationS     float64                      `json:"calibration_s,omitempty"`
	StoppedEarly     string                       `json:"stopped_early,omitempty"`
	Clients          []Client                     `json:"clients,omitempty"` // machines that loaded, in their order
}

// Hosts names the machines by their profiles in data/hosts. The client's was always the server's.
type Hosts struct {
	Server string `json:"server"`
	Client string `json:"client"`
}

// A Client is a machine that loaded. It has no name here.
type Client struct {
	Cores   int     `json:"cores"`
	LinkBps float64 `json:"link_bps,omitempty"` // line rate of its interface, if it says it
}

// A BlockPlan says how the time of a block is divided, as the experiment's file has it.
type BlockPlan struct {
	experiment.Block
	ProfileS float64 `json:"profile_s,omitempty"` // 0 without profiles
}

// Ended says why no further block was begun.
type Ended string

const (
	Decided     Ended = "decided"     // no claim was open
	Budget      Ended = "budget"      // the time was over
	Blocks      Ended = "blocks"      // as many blocks as a file holds, or as were asked for
	Interrupted Ended = "interrupted" // by a signal, or the process was killed
	Failing     Ended = "failing"     // too many blocks in a row without a valid trial
)

// A Condition is one combination of levels of the experiment's factors.
type Condition struct {
	ID       string         `json:"id"`
	Levels   setting.Levels `json:"levels"`
	Commands []string       `json:"commands,omitempty"`
	// ControlOf marks the run's A/A control: the same levels a second time, drawn into the order and measured like
	// any other condition.
	ControlOf string `json:"control_of,omitempty"`
	Generator string `json:"generator,omitempty"`
	// Profiles are the raw files; each trial has its own summary of them.
	Profiles []RawProfile `json:"profiles,omitempty"`
}

// A Trial is one condition in one block.
type Trial struct {
	Seq       int       `json:"-"` // place in the order of the run, from 1
	Block     int       `json:"block"`
	Condition string    `json:"of"`
	StartedAt time.Time `json:"-"`
	// AtS is the trial's start in the file's text, 0 where it never began; StartedAt has it in memory.
	AtS float64 `json:"at,omitempty"`
	// Valid reports whether the trial has no reason against it.
	Valid   bool     `json:"-"`
	Reasons []Reason `json:"reasons,omitempty"`

	// Bound has the walls that were met, and BoundWhy the figures that say so.
	Bound    gate.Bound `json:"-"`
	BoundWhy string     `json:"-"`

	// Metrics holds the trial's figures. The text has those that were counted, in the file's columns, and leaves
	// out those that follow: see Conclude.
	Metrics map[string]float64 `json:"-"`
	// Below holds figures known only as "less than": autocannon cuts latency to whole milliseconds.
	Below map[string]float64 `json:"below,omitempty"`
	// Resolution holds the step in which a figure was recorded, where the step is coarse enough to matter.
	Resolution map[string]float64 `json:"-"`
	// Printed holds the figures of a text as it printed them.
	Printed map[string]string `json:"-"`

	// Slots is nil where the trial was measured in one piece, else in the order of time.
	Slots []slots.Slot `json:"slots,omitempty"`

	Profiles []profile.Profile `json:"profiles,omitempty"`
}

// A Reason names the gate that closed on a trial, and says what it saw.
type Reason struct {
	Gate   string `json:"gate"`
	Detail string `json:"detail"`
}

// A RawProfile names a file in data/profiles in pprof's format: the profiles of all valid trials of a condition,
// merged.
type RawProfile struct {
	Kind   profile.Kind `json:"kind"`
	File   string       `json:"file"`
	SHA256 string       `json:"sha256"`
	Trials int          `json:"trials"`
}

// Profile finds a trial's profile by kind.
func (t Trial) Profile(kind profile.Kind) (profile.Profile, bool) {
	return strict.Find(t.Profiles, func(p profile.Profile) bool { return p.Kind == kind })
}
