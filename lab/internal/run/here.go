package run

// Unreachable says why a plan cannot be carried out on this machine, as far as that
// shows without trying; empty where nothing shows. Its run takes no time.
func (p Plan) Unreachable() string { return p.unreachable() }
