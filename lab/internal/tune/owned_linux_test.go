package tune

import (
	"fmt"
	"strings"
)

// Two knobs of the tests' own: originals and holds are alike for all, and these write a
// single value of an interface, and values of a namespace. mtu takes its bytes as
// --entries, and sysctl NAME=VALUE,… as --cpus.
func init() {
	knobs = append(knobs, &knob{
		name: "mtu", takes: "--dev D --entries N",
		kind: kindFile, paths: []string{netDir + "*/mtu"}, same: sameWords, rights: capNetAdmin, where: netDir + "*",
		plan: func(m *machine, o *options) ([]change, error) {
			t, err := m.device(o.dev)
			t.Path += "/mtu"
			return []change{{target: t, want: fmt.Sprintf("%d\n", o.entries)}}, err
		},
	}, &knob{
		name: "sysctl", takes: "--cpus NAME=VALUE,…",
		kind: kindFile, paths: []string{sysctlDir + "net/*/*"}, same: sameWords,
		plan: func(m *machine, o *options) (all []change, err error) {
			set := o.cpus
			if set == "" {
				set = "net.core.somaxconn=65535,net.core.netdev_max_backlog=65535,net.ipv4.tcp_max_syn_backlog=65535," +
					"net.ipv4.ip_local_port_range=1024 65535,net.ipv4.tcp_tw_reuse=1,net.ipv4.tcp_fin_timeout=15"
			}
			for _, one := range strings.Split(set, ",") {
				name, value, _ := strings.Cut(one, "=")
				all = append(all, change{target: file(sysctlDir + strings.ReplaceAll(name, ".", "/")), want: value + "\n"})
			}
			return all, nil
		},
	})
}
