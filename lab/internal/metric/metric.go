// Package metric names every quantity that a results file may hold.
//
// Results files can only use these names. Each has a base SI unit and one
// sentence that says what was counted and where. How a figure is read is up to
// the telemetry package.
package metric

// A Unit is a base unit as used in results files. Pages may scale it
// (microseconds, Gbit/s); files never do.
type Unit string

// Ratio is a share from 0 to 1; Count has no unit.
const (
	Second         Unit = "s"
	PerSecond      Unit = "1/s"
	BitsPerSecond  Unit = "bit/s"
	BytesPerSecond Unit = "B/s"
	Bytes          Unit = "B"
	Ratio          Unit = "ratio"
	Count          Unit = "count"
)

// A Metric is one named quantity.
type Metric struct {
	Name  string `json:"-"`
	Unit  Unit   `json:"unit"`
	Label string `json:"label"` // column head of a table, without the unit
	Doc   string `json:"doc"`   // one sentence: what is counted, and where
	// MeasuresClient says that the figure is what the client achieved. If the
	// client is the wall, it says nothing about the server.
	MeasuresClient bool `json:"measures_client"`
}

var all = []Metric{
	{"throughput_rps", PerSecond, "Throughput",
		"Completed requests over the measured window, as the load generator counts them.", true},
	{"requests", Count, "Requests", "Completed requests in the measured window.", true},
	{"duration_s", Second, "Window", "Length of the measured window, from the load generator's own clock.", false},
	{"errors", Count, "Errors", "Connection errors and timeouts that the load generator saw.", false},
	{"timeouts", Count, "Timeouts", "Requests the load generator gave up on.", false},
	{"answers_compared", Count, "Compared",
		"Answers whose whole body the load generator compared, the warm-up's included. If it found none wrong, then with " +
			"a confidence of 95 % fewer than three in this many were.", false},
	{"resets", Count, "Resets", "Connections reset before their answer, as the load generator counts them.", false},
	{"non_2xx", Count, "Non-2xx", "Answers whose status was not 2xx.", false},
	{"latency_mean_s", Second, "Mean latency", "Mean time from request to answer, seen by the client.", true},
	{"latency_mean_least_s", Second, "Mean latency, at least",
		"Mean of latencies that the load generator cut to whole steps of its clock: the mean latency is less than a step " +
			"above.", true},
	{"latency_p50_s", Second, "p50", "Median latency, seen by the client.", true},
	{"latency_p90_s", Second, "p90", "90th percentile of latency, seen by the client.", true},
	{"latency_p95_s", Second, "p95", "95th percentile of latency, seen by the client; texts print it, autocannon's " +
		"summary has none.", true},
	{"latency_p99_s", Second, "p99", "99th percentile of latency, seen by the client.", true},
	{"latency_p999_s", Second, "p99.9", "99.9th percentile of latency, seen by the client.", true},
	{"latency_max_s", Second, "Max", "Longest latency, seen by the client.", true},
	{"latency_cut_share", Ratio, "Latency cut",
		"Requests without an answer when the load generator stopped waiting, of all whose latency counts. The mean, the " +
			"longest latency and the percentiles that lie among them are absent then.", true},
	{"transfer_bytes_per_s", BytesPerSecond, "Transfer", "Response bytes (head and body) the client read a second.", true},
	{"response_bytes", Bytes, "Response size", "Response bytes (head and body) over completed requests.", false},
	{"wire_tx_bps", BitsPerSecond, "Wire, server to client",
		"Bits a second on the wire from server to client, by the counters of the queue that shapes the wire, or of the " +
			"interface; segmentation offload hides most packet heads from them.", true},
	{"wire_rx_bps", BitsPerSecond, "Wire, client to server",
		"Bits a second on the wire from client to server, by the counters of the queue that shapes the wire, or of the " +
			"interface.", true},
	{"wire_tx_packets_per_s", PerSecond, "Packets, server to client",
		"Packets a second from server to client, by the counters of the queue that shapes the wire, or of the interface; " +
			"with segmentation offload one of them can stand for dozens on the wire.", true},
	{"wire_rx_packets_per_s", PerSecond, "Packets, client to server",
		"Packets a second from client to server, by the counters of the queue that shapes the wire, or of the interface.",
		true},
	{"line_rate_share", Ratio, "Share of line rate", "Bits on the wire in the busier direction over the line rate.", true},
	{"workers", Count, "Workers", "Child processes of the server's prefork master.", false},
	{"workers_active", Count, "Workers active",
		"Workers whose CPU time in the measured window was at least a tenth of the busiest worker's.", false},
	{"workers_serving", Count, "Workers serving",
		"Workers that held a connection when the server's connections were counted.", false},
	{"processes", Count, "Processes", "Processes of the server: the master and its workers.", false},
	{"threads_per_worker", Count, "Threads per worker",
		"Mean number of operating-system threads of a worker, through the measured window.", false},
	{"connections_per_worker", Count, "Connections per worker", "Open connections over workers.", false},
	{"server_cpu_s", Second, "Server CPU", "User and system time of all the server's processes, from the first to the " +
		"last sample in the measured window; of a trial in slots by their CPU clocks at the slots' edges.", false},
	{"server_cpu_per_request_s", Second, "Server CPU per request",
		"User and system time of all the server's processes over completed requests.", false},
	{"server_cores_busy", Ratio, "Server cores busy",
		"Share of time the server's cores were not idle, mean over those cores; of a trial in slots the server's CPU time " +
			"over the slots and its cores.", false},
	{"server_workers_busy", Ratio, "Workers busy",
		"CPU time of the server's workers over the window, mean over workers; each can use one core.", false},
	{"wire_ends_off", Ratio, "Ends differ by",
		"Share by which the bytes that passed the server's interface and those that passed its clients' differ, in the " +
			"busier direction; of a fleet.", false},
	{"server_edge_late_s", Second, "Server read late by",
		"The latest that the CPU clocks of a fleet's servers were read after the begin or the end of one of the trial's " +
			"slots.", false},
	{"client_cpu_per_request_s", Second, "Client CPU per request",
		"User and system time of the load generator over completed requests.", false},
	{"client_cores_busy", Ratio, "Client cores busy",
		"Share of time the client's cores were not idle, mean over those cores; of a trial in slots the load generator's " +
			"CPU time over the slots and its cores.", false},
	{"client_thread_busy_max", Ratio, "Busiest client thread",
		"CPU time of the load generator's busiest thread over the window.", false},
	{"server_steal", Ratio, "Steal, server cores",
		"Share of time the hypervisor ran something else, mean over the server's cores.", false},
	{"client_steal", Ratio, "Steal, client cores",
		"Share of time the hypervisor ran something else, mean over the client's cores.", false},
	{"idle_servers_busy", Ratio, "Idle servers busy",
		"CPU time of the servers that were up and not loaded, all of them together, over the trial's slots, in cores.",
		false},
	{"slots", Count, "Slots", "Turns that the trial's time lies in; absent where it lies in one piece.", false},
	{"slot_off_s", Second, "Slot off", "The most by which what counts of a slot was longer or shorter than asked.", false},
	{"slot_requests_least", Count, "Least of a slot", "Completed requests in the trial's slot that has fewest.", true},
	{"slot_server_busy_max", Ratio, "Busiest slot",
		"CPU time of the server in one slot over the slot and the server's cores, the most of any slot.", false},
	{"silence_s", Second, "Silence", "Longest time without an answer in what counts of a slot, or of a window in one " +
		"piece, its ends included.", true},
	{"in_flight", Count, "In flight", "Throughput times mean latency: requests in flight by Little's law.", false},
	{"service_time_s", Second, "Service time", "CPU time a request takes on the server, as a text derives it.", false},
	{"throughput_per_worker_rps", PerSecond, "Throughput per worker", "Throughput over workers.", true},
	{"asked_rate_rps", PerSecond, "Asked rate",
		"Requests a second the load generator was asked for; absent in a closed loop.", false},
	{"answered_share", Ratio, "Answered share",
		"Answered requests over those that fell due in the measured window at a fixed rate, whichever side fell short.",
		false},
	{"send_lag_p99_s", Second, "Send lag p99",
		"99th percentile of how late the load generator itself sent a request at a fixed rate.", true},
	{"asked_in_flight", Count, "Asked in flight",
		"Connections times pipelining: requests that a closed loop keeps in flight.", false},
	{"connections_established", Count, "Established",
		"Connections that the server's processes held established when they were counted, once a trial.", false},
	{"syscalls_per_request", Count, "System calls per request",
		"System calls of the server over completed requests, with a tracer attached; it slows the server.", false},
	{"server_rss_bytes", Bytes, "Server memory",
		"Resident memory of all the server's processes, most seen in the measured window; pages they share count for each.",
		false},
	{"client_rss_bytes", Bytes, "Client memory",
		"Resident memory of all the load generator's processes, most seen in the measured window.", false},
	{"server_context_switches_per_s", PerSecond, "Context switches, server",
		"Times a second that one of the server's threads was given a core.", false},
	{"client_context_switches_per_s", PerSecond, "Context switches, client",
		"Times a second that one of the load generator's threads was given a core.", false},
	{"server_foreign_load", Ratio, "Other load, server cores",
		"User and system time on the server's cores that neither server nor client used, in cores.", false},
	{"client_foreign_load", Ratio, "Other load, client cores",
		"User and system time on the client's cores that neither server nor client used, in cores.", false},
	{"sampler_busy", Ratio, "Sampler", "CPU time of the lab's own sampling over the trial, in cores.", false},
	{"calibration_before_s", Second, "Calibration before",
		"Fastest pass of a fixed loop of socket calls on the server's core, in the moments before the trial: time for one " +
			"pair of calls.", false},
	{"calibration_after_s", Second, "Calibration after", "The same loop in the second after the trial.", false},
	{"tcp_retransmits", Count, "Retransmits",
		"TCP segments sent again in the measured window, by the kernel's counter for the network namespace.", false},
	{"listen_overflows", Count, "Listen overflows", "Connections that met a full accept queue in the measured window.",
		false},
	{"listen_drops", Count, "Listen drops", "Connections dropped by listening sockets in the measured window.", false},
	{"softnet_drops", Count, "Softnet drops", "Packets dropped because a core's backlog was full, all cores.", false},
	{"softnet_squeezes", Count, "Softnet squeezes", "Times a core's receive loop ran out of its budget, all cores.",
		false},
	{"interrupts_per_s", PerSecond, "Interrupts", "Interrupts a second, all cores.", false},
	{"wire_drops", Count, "Wire drops", "Packets that the wire's shaper dropped in the measured window, both directions.",
		false},
	{"throttled_s", Second, "Throttled", "Time in the measured window that a quota or heat held the machine's cores back.",
		false},
	{"swap_pages", Count, "Swapped pages", "Pages swapped in or out in the measured window.", false},
	{"clock_step_s", Second, "Clock step", "How far the wall clock moved against the monotonic clock through the trial.",
		false},
	{"goroutines_parked", Count, "Goroutines parked",
		"Blocked time of the server's block profile over the profiled window: how many goroutines waited on average, idle " +
			"ones among them.", false},
	{"block_events", Count, "Blocking events",
		"Blocking events in the server's block profile; those shorter than its rate are sampled and stand for others.",
		false},
	{"block_stacks", Count, "Blocking stacks", "Different stacks in the server's block profile.", false},
	{"live_heap_bytes", Bytes, "Live heap", "Live objects in the server's heap profile, all its processes.", false},
	{"client_receive_share", Ratio, "The client's part",
		"Part of the server's CPU time in which the kernel handed the server's packets to the client, in a window of its " +
			"own under the same load.", false},
	{"profiled_throughput_share", Ratio, "Throughput while profiled",
		"Throughput of the window in which profiles were taken over that of the window before it, in which none was.", true},
	{"profile_spread_s", Second, "Profiles' starts",
		"Time between the starts of the first and the last profile of one window, all the server's processes; that of " +
			"goroutines apart, for which the world is stopped.", false},
	{"delivered_per_s", PerSecond, "Delivered",
		"Events a second that a batch processor's receiver took in, each counted once, over the measured window; a text " +
			"counts them in the sender's log.", true},
	{"offered_per_s", PerSecond, "Offered",
		"Events a second that fell due at the producer in the measured window, whether or not the batch processor took them.",
		false},
	{"delivered_share", Ratio, "Delivered share", "Events delivered over events offered, both in the measured window.",
		true},
	{"logged_per_s", PerSecond, "Logged", "Events a second by the sender's log lines, one a batch that was answered.",
		false},
	{"limit_per_s", PerSecond, "Limit", "The highest rate of events that was delivered without loss and without " +
		"falling behind, of the rates that the trial tried.", true},
	{"arrived_share", Ratio, "Arrived share",
		"Events that had reached the receiver once the processor was stopped and had sent what it held, over events it " +
			"had taken in since the trial began.", false},
	{"lost_per_s", PerSecond, "Lost", "Events a second that the batch processor dropped, or gave up after its receiver " +
		"had refused them.", false},
	{"unaccounted_events", Count, "Unaccounted",
		"Events that the batch processor took in and that were neither delivered, nor counted as dropped or failed, nor " +
			"returned, once it was stopped.", false},
	{"duplicate_events", Count, "Duplicates", "Events that the receiver took in again in the measured window.", false},
	{"backlog_growth_per_s", PerSecond, "Backlog growth",
		"How much more is offered and not yet accounted for at the end of the measured window than at its start, a second.",
		false},
	{"events_per_batch", Count, "Events a batch", "Delivered events over the batches that brought them.", false},
	{"sink_in_flight_max", Count, "Calls at once",
		"The most calls that the receiver had open at once in the measured window.", false},
	{"add_p99_s", Second, "Add p99", "99th percentile of the time that a call to add an event took.", false},
	{"pace_lag_p99_s", Second, "Pace lag p99",
		"99th percentile of how late the producer's own pacer woke up, beyond what it had asked for.", false},
	{"delivery_p50_s", Second, "Delivery p50", "Median time from when an event was due to its arrival at the receiver.",
		true},
	{"delivery_p99_s", Second, "Delivery p99",
		"99th percentile of the time from when an event was due to its arrival at the receiver.", true},
	{"server_cpu_per_event_s", Second, "CPU per event",
		"User and system time of the process that produces, batches and sends, over delivered events.", false},
	{"requests_on_thread", Count, "Requests on a thread",
		"Requests of one worker on a thread at one instant, as a text derives it.", false},
}

var byName = func() map[string]Metric {
	m := make(map[string]Metric, len(all))
	for _, x := range all {
		m[x.Name] = x
	}
	return m
}()

// All returns every metric, in the order pages list them.
func All() []Metric { return append([]Metric(nil), all...) }

// Throughput tells whether the figure is a rate that a wall, or the rate asked
// for, can limit. Latencies are not. Nor is a limit that was searched for: the search
// has seen a higher rate fail, so nothing else has to show that it is one.
func (m Metric) Throughput() bool {
	switch m.Name {
	case "limit_per_s":
		return false
	case "requests", "line_rate_share", "profiled_throughput_share":
		return true
	}
	return m.MeasuresClient && (m.Unit == PerSecond || m.Unit == BytesPerSecond || m.Unit == BitsPerSecond)
}

// Lookup finds a metric by its name in the results files.
func Lookup(name string) (Metric, bool) {
	m, ok := byName[name]
	return m, ok
}

// Names returns the names of all metrics, in the order of All.
func Names() []string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return names
}
