// Package results defines the results file: what a run leaves behind, and the
// only source of verdicts and pages.
//
// A trial is one condition in one block. Its time is divided into
// slots, which alternate with those of the other conditions whose servers are
// up at once; its figures are computed from the sums over its slots. Figures of
// the machine (steal, other load, calibrations, the clock) cover all conditions
// that were up together and are repeated in each of their trials. Only complete
// blocks are kept, and no trial is repeated.
//
// Every trial is kept, an invalid one with its reasons. A figure that was not
// measured is absent rather than zero. Files are not trusted: figures
// that follow from others are computed when a file is read, and package check compares the rest.
//
// The file says what was seen, not what it means: verdicts are derived from it
// and kept elsewhere, so that a better rule can be applied to old runs. Figures
// that agree with each other may still be wrong.
package results

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// Version is the schema version of results files; any other is refused by name.
const Version = 3

// A File is one run of one experiment.
type File struct {
	SchemaVersion int            `json:"schema_version" jsonschema:"enum=3"`
	Experiment    string         `json:"experiment" jsonschema:"pattern=^[a-z0-9]+(-[a-z0-9]+)*$,maxLength=100,description=Name of the experiment's file without its ending."`
	Run           string         `json:"run" jsonschema:"pattern=^[0-9]{8}t[0-9]{6}z-[a-z0-9][a-z0-9-]*$,maxLength=120,description=Name of this file without its ending: when the run began and on which host."`
	Hosts         Hosts          `json:"hosts"`
	Provenance    *Provenance    `json:"provenance" jsonschema:"description=How a measured run came about."`
	Topology      Topology       `json:"topology"`
	Settings      setting.Levels `json:"settings" jsonschema:"description=What was the same in every trial."`
	Conditions    []Condition    `json:"conditions"`
	Trials        []Trial        `json:"trials" jsonschema:"description=Every trial in the order it ran; invalid ones too."`
	// Figures and Resolutions hold the trials' maps as columns in the file's text.
	// In a File in memory they are nil: Decode moves them to the trials, Encode
	// takes them from there.
	Figures       map[string]Column `json:"figures,omitempty" jsonschema:"description=The trials' metrics in a measured run\\, in base SI units\\, but those that follow from others. A column is one number where all trials have the same\\, a list with an entry for each turn where the conditions that were up together have the same\\, or a list with an entry for each trial\\, null where it was not measured."`
	Resolutions   map[string]Column `json:"resolutions,omitempty" jsonschema:"description=The trials' resolutions in a measured run\\, in columns like figures."`
	NotApplicable string            `json:"not_applicable,omitempty" jsonschema:"description=Why the experiment could not be run on this host; there are no trials then."`
	Warnings      []string          `json:"warnings,omitempty"`
}

// Provenance is what a reader needs to run the experiment again or to question
// the run.
type Provenance struct {
	StartedAt        time.Time  `json:"started_at"`
	FinishedAt       time.Time  `json:"finished_at"`
	Commit           string     `json:"commit" jsonschema:"pattern=^([0-9a-f]{40}|[0-9a-f]{64}|unknown)$,description=Commit of the lab; 'unknown' outside a checkout."`
	Dirty            bool       `json:"dirty" jsonschema:"description=Whether what the lab is made of differed from that commit: lab/\\, Makefile\\, package.json and package-lock.json; files that git does not track included."`
	ExperimentSHA256 string     `json:"experiment_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	Block            *BlockPlan `json:"block,omitempty" jsonschema:"required,description=How a block's time was laid out."`
	BudgetS          float64    `json:"budget_s,omitempty" jsonschema:"required,exclusiveMinimum=0,maximum=86400,description=The longest that the run was to go on while a claim was undecided."`
	Blocks           int        `json:"blocks" jsonschema:"minimum=0,maximum=1000,description=Complete blocks\\, whose trials the file holds; none where the experiment could not be run."`
	// ClockS is where the slots' clock began; Encode takes it from the trials.
	ClockS       float64                `json:"clock_s,omitempty" jsonschema:"description=Where the clock of the slots began: seconds since started_at. A trial with slots began at the first of them."`
	Ended        Ended                  `json:"ended,omitempty" jsonschema:"enum=decided,enum=budget,enum=blocks,enum=interrupted,enum=failing,description=Why no further block was begun."`
	Seed         uint64                 `json:"seed" jsonschema:"description=Seed of the order of trials."`
	Generator    string                 `json:"generator" jsonschema:"description=The load generator of every figure in this file."`
	ServerCPUs   string                 `json:"server_cpus,omitempty" jsonschema:"pattern=^[0-9]+(-[0-9]+)?(\\,[0-9]+(-[0-9]+)?)*$,maxLength=1000,description=Cores the server was pinned to; absent if it was not pinned."`
	ClientCPUs   string                 `json:"client_cpus,omitempty" jsonschema:"pattern=^[0-9]+(-[0-9]+)?(\\,[0-9]+(-[0-9]+)?)*$,maxLength=1000,description=Cores the client was pinned to; absent if it was not pinned."`
	Tools        map[string]string      `json:"tools"`
	Servers      map[string]Server      `json:"servers,omitempty" jsonschema:"description=What lab/servers.toml said of the servers that were loaded\\, by name; absent in early files."`
	Binaries     map[string]host.Binary `json:"binaries,omitempty" jsonschema:"description=The programs that ran by name; absent where none did."`
	Environment  *host.Environment      `json:"environment,omitempty" jsonschema:"description=All variables that the programs started with\\, but for GOMAXPROCS\\, which server.sh sets to the number of workers\\, and those that a server's command line names."`
	Kernel       map[string]string      `json:"kernel" jsonschema:"description=Kernel\\, microcode and settings that matter to a throughput figure."`
	Boot         string                 `json:"boot,omitempty" jsonschema:"pattern=^[0-9a-f]{16}$,description=Keyed hash of what the server's machine drew when it started; absent in early files."`
	Known        bool                   `json:"known,omitempty" jsonschema:"description=Whether this run read the mark of the host's profile\\, which no other machine has. Else it is surely one machine with runs of the same boot only."`
	MemoryBytes  int64                  `json:"memory_bytes,omitempty" jsonschema:"minimum=0,description=Installed memory; absent in early files\\, whose host profile has it."`
	Commands     []string               `json:"commands,omitempty" jsonschema:"description=Command lines of the topology, from the repository's root."`
	CalibrationS float64                `json:"calibration_s,omitempty" jsonschema:"minimum=0,description=Fastest calibration of the run: the server's core at its best."`
	LeftOut      []LeftOut              `json:"left_out,omitempty" jsonschema:"description=What this host could not measure of the design\\, such as a server whose tools it lacks."`
	StoppedEarly string                 `json:"stopped_early,omitempty" jsonschema:"description=What kept a run from going on that was interrupted or whose trials failed."`
}

// LeftOut names conditions of the design by their levels, and says why the run
// has none of them.
type LeftOut struct {
	Levels setting.Levels `json:"levels"`
	Why    string         `json:"why" jsonschema:"minLength=1,maxLength=300"`
}

// A BlockPlan says how the time of a block is divided, as the experiment's file
// has it.
type BlockPlan struct {
	SlotS   float64 `json:"slot_s" jsonschema:"exclusiveMinimum=0,maximum=3600,description=What counts of a slot."`
	Rounds  int     `json:"rounds" jsonschema:"minimum=1,maximum=1000,description=Slots of each condition in a block."`
	WarmupS float64 `json:"warmup_s" jsonschema:"minimum=0,maximum=3600,description=Load on each server before its first slot."`
	// ProfileS is 0 where no profiles are taken.
	ProfileS float64 `json:"profile_s,omitempty" jsonschema:"exclusiveMinimum=0,maximum=3600,description=How long each server is profiled\\, alone\\, after the slots; absent where no profiles are taken."`
}

// WindowS is the measured time of a trial in seconds: all of its slots
// together, or one piece of the same length.
func (b *BlockPlan) WindowS() float64 { return b.SlotS * float64(b.Rounds) }

// Ended says why no further block was begun.
type Ended string

const (
	Decided     Ended = "decided"     // every claim is decided
	Budget      Ended = "budget"      // the time was used up
	Blocks      Ended = "blocks"      // as many blocks as a file holds, or as were asked for
	Interrupted Ended = "interrupted" // by a signal, or the process was killed
	Failing     Ended = "failing"     // too many blocks in a row without a valid trial
)

// Topology says how client and server were joined.
type Topology struct {
	Kind        string  `json:"kind" jsonschema:"enum=loopback,enum=netns,enum=fleet"`
	LineRateBps float64 `json:"line_rate_bps,omitempty" jsonschema:"minimum=0,description=Bits a second the wire carries each way."`
	BurstBytes  int64   `json:"burst_bytes,omitempty" jsonschema:"minimum=0"`
	QueueS      float64 `json:"queue_s,omitempty" jsonschema:"minimum=0,description=Longest time a packet waits in the shaper before it is dropped."`
}

// A Condition is one combination of levels of the experiment's factors.
type Condition struct {
	ID       string         `json:"id" jsonschema:"pattern=^c[1-9][0-9]*$,maxLength=10"`
	Levels   setting.Levels `json:"levels,omitempty" jsonschema:"description=Left out of the control\\, which has those of the condition that it repeats\\, and its commands."`
	Commands []string       `json:"commands,omitempty" jsonschema:"description=Exact command lines of server and client, from the repository's root."`
	// ControlOf marks the run's A/A control: the same levels a second time, drawn
	// into the order and measured like any other condition.
	ControlOf string `json:"control_of,omitempty" jsonschema:"pattern=^c[1-9][0-9]*$,maxLength=10,description=Id of the condition that this one repeats under another name as the run's A/A control."`
	Generator string `json:"generator,omitempty" jsonschema:"description=Load generator of this condition's figures, where it is a factor."`
	// Profiles are the raw files; each trial has its own summary of them.
	Profiles []RawProfile `json:"profiles,omitempty"`
}

// A Trial is one condition in one block.
type Trial struct {
	Seq       int       `json:"-"` // place in the order of the run, from 1
	Block     int       `json:"block,omitempty" jsonschema:"minimum=1,description=Left out where it is that of the trial before."`
	Condition string    `json:"of" jsonschema:"pattern=^c[1-9][0-9]*$,maxLength=10,description=Id of its condition."`
	StartedAt time.Time `json:"-"`
	// AtS is the trial's start in the file's text; StartedAt has it in memory.
	AtS *float64 `json:"at,omitempty" jsonschema:"description=When the trial began: seconds since the run's started_at\\, by the wall clock; absent where its slots say so\\, or where it never began."`
	// Valid reports whether the trial has no reason against it.
	Valid   bool     `json:"-"`
	Reasons []Reason `json:"reasons,omitempty" jsonschema:"description=Why the trial is invalid."`

	// Bound has the walls that were met, and BoundWhy the figures that say so.
	Bound    gate.Bound `json:"-"`
	BoundWhy string     `json:"-"`

	// Metrics holds the trial's figures. The text of a measured run has those that
	// were counted in the file's columns, and leaves out those that follow: see Follow.
	Metrics map[string]float64 `json:"metrics,omitzero" jsonschema:"description=Figures in base SI units; those of a measured run stand in the file's figures."`
	// Below holds figures known only as "less than": autocannon cuts latency to
	// whole milliseconds.
	Below map[string]float64 `json:"below,omitempty" jsonschema:"description=Figures known only to be less than this."`
	// Resolution holds the step in which a figure was recorded, where the step is
	// coarse enough to matter.
	Resolution map[string]float64 `json:"resolution,omitempty" jsonschema:"description=A figure may stand for anything from itself up to this much more."`

	// ByRequest has what came of each request, where several were asked; in memory alone.
	ByRequest []load.RequestSummary `json:"-"`

	// Slots is nil where the trial was measured in one piece.
	Slots *Slots `json:"slots,omitempty"`

	Cores         []Core             `json:"cores,omitempty" jsonschema:"description=Where each core's time went in the measured window; absent where the trial before it\\, with which this one was up\\, has the same."`
	ClientThreads []float64          `json:"client_threads,omitempty" jsonschema:"description=Share of a core that each of the load generator's threads used, busiest first; under one in a hundred left out."`
	Interrupts    []Interrupt        `json:"interrupts,omitempty" jsonschema:"description=Interrupts of the interface under load, by queue."`
	Profiles      []profiles.Profile `json:"profiles,omitempty" jsonschema:"description=What the profiles of a window of their own under the same load came to; the metrics are of before it\\, when none was taken."`
}

// A Core says where one core's time went: shares from 0 to 1, by the kernel's
// clock ticks. The rest of the time was idle. In the text it is a list: the core's
// number and the shares in this order.
type Core struct {
	CPU                                int
	User, System, SoftIRQ, Steal, Idle float64
}

// JSONSchema is that of the list.
func (Core) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "number"}, MinItems: new(uint64(6)),
		MaxItems:    new(uint64(6)),
		Description: "The core's number, and the shares of its time in user, system, softirq and steal, and idle."}
}

// MarshalJSON writes the list.
func (c Core) MarshalJSON() ([]byte, error) {
	return json.Marshal([]float64{float64(c.CPU), c.User, c.System, c.SoftIRQ, c.Steal, c.Idle})
}

// UnmarshalJSON reads it.
func (c *Core) UnmarshalJSON(text []byte) error {
	var v [6]float64
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*c = Core{int(v[0]), v[1], v[2], v[3], v[4], v[5]}
	if v[0] != float64(c.CPU) || c.CPU < 0 {
		return fmt.Errorf("%v is no number of a core", v[0])
	}
	return nil
}

// An Interrupt is the count of one interrupt line of the loaded interface.
type Interrupt struct {
	Name string  `json:"name" jsonschema:"minLength=1"`
	PerS float64 `json:"per_s" jsonschema:"minimum=0"`
}

// A Reason names the gate that closed on a trial, and says what it saw.
type Reason struct {
	Gate   string `json:"gate" jsonschema:"pattern=^[a-z0-9]+(-[a-z0-9]+)*$,maxLength=40"`
	Detail string `json:"detail" jsonschema:"minLength=1"`
	// Here is the detail as a person at the machine may see it, with the names of
	// other processes; empty where it is the same. It is never written.
	Here string `json:"-"`
}

// A RawProfile names a file in data/profiles in pprof's format: the profiles of
// all valid trials of a condition, merged.
type RawProfile struct {
	Kind   profiles.Kind `json:"kind" jsonschema:"enum=cpu,enum=mutex,enum=block,enum=heap,enum=goroutine,enum=allocs"`
	File   string        `json:"file" jsonschema:"pattern=^[a-z0-9-]+/[a-z0-9-]+/c[0-9]+-[a-z]+[.]pb[.]gz$,maxLength=250,description=Path from data/profiles."`
	SHA256 string        `json:"sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	Trials int           `json:"trials" jsonschema:"minimum=1,description=How many trials' windows it holds."`
}

// Profile finds a trial's profile by kind.
func (t Trial) Profile(kind profiles.Kind) (profiles.Profile, bool) {
	return strict.First(t.Profiles, func(p profiles.Profile) bool { return p.Kind == kind })
}

// profileUnits has the unit of each kind of profile.
var profileUnits = map[profiles.Kind]string{"cpu": "s", "mutex": "s", "block": "s", "heap": "B", "allocs": "B",
	"goroutine": "count"}
