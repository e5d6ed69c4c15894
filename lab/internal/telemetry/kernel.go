package telemetry

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// kernel reads the counters of the whole machine and of the loaded network
// namespace.
func (s *Sampler) kernel() map[string]float64 {
	counters := map[string]float64{}
	put := func(name string, v *float64) {
		if v != nil {
			counters[name] = *v
		}
	}
	if soft, err := s.fs.NetSoftnetStat(); err == nil {
		var drops, squeezes float64
		for _, c := range soft {
			drops += float64(c.Dropped)
			squeezes += float64(c.TimeSqueezed)
		}
		counters["softnet_drops"], counters["softnet_squeezes"] = drops, squeezes
	}
	if p, err := s.fs.Proc(s.targets.NetPID); err == nil {
		if snmp, err := p.Snmp(); err == nil {
			put("tcp_retransmits", snmp.RetransSegs)
		}
		if net, err := p.Netstat(); err == nil {
			put("listen_overflows", net.ListenOverflows)
			put("listen_drops", net.ListenDrops)
		}
	}
	if text, err := os.ReadFile("/proc/vmstat"); err == nil {
		in, ok := field(string(text), "pswpin")
		out, also := field(string(text), "pswpout")
		if ok && also {
			counters["swap_pages"] = in + out
		}
	}
	if v, ok := s.throttled(); ok {
		counters["throttled_s"] = v
	}
	return counters
}

// field gives the value of a line "name value".
func field(text, name string) (float64, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return v, err == nil
		}
	}
	return 0, false
}

// throttled is the time in seconds since boot for which cores were held back by
// a CPU quota on a control group of the lab, the server or the client, or by
// heat. It is unknown where the control groups cannot be read. Most virtual
// machines do not show heat; it is included where shown.
func (s *Sampler) throttled() (seconds float64, ok bool) {
	who := []string{"self"}
	add := func(pids ...int) {
		for _, pid := range pids {
			if pid > 0 {
				who = append(who, strconv.Itoa(pid))
			}
		}
	}
	for _, f := range s.found {
		add(f.pid)
	}
	for _, p := range s.targets.Pairs {
		add(p.Servers...)
	}
	q := cores.ReadQuota(s.proc, filepath.Join(s.sys, "fs", "cgroup"), who...)
	if !q.Seen {
		return 0, false
	}
	seconds = q.Held.Seconds()
	for _, path := range s.heat {
		text, _ := os.ReadFile(path)
		if ms, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
			seconds += ms / 1e3
		}
	}
	return seconds, true
}

func (s *Sampler) heatFiles() []string {
	files, _ := filepath.Glob(filepath.Join(s.sys, "devices", "system", "cpu", "cpu[0-9]*", "thermal_throttle",
		"core_throttle_total_time_ms"))
	return files
}
