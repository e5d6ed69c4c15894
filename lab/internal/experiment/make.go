package experiment

// Make checks a design that is in no file, as a command makes one of its
// arguments, and prepares it like Parse. It has no text, and so a run of it can
// be in no journal. Servers not yet checked are.
func Make(x Experiment) (*Experiment, error) {
	if err := x.resolve(times{BudgetS: x.BudgetS, Block: x.Block}); err != nil {
		return nil, err
	}
	x.SHA256 = digest(locked{Topology: x.Topology, Settings: x.fixed, Block: &x.Block, Servers: x.lockedServers()})
	return &x, nil
}
