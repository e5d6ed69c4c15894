package tune

import (
	"errors"
	"flag"
	"fmt"
)

// mtu sets the largest packet of an interface.
type mtu struct {
	dev string
	mtu int
}

func (k *mtu) flags(fs *flag.FlagSet) {
	fs.StringVar(&k.dev, "dev", "", "")
	fs.IntVar(&k.mtu, "mtu", 0, "")
}
func (k *mtu) take(rest []string) error { return noMore(rest) }
func (k *mtu) ready(*machine) error     { return nil }

// Below leastMTU the kernel takes IPv6 off the interface, with addresses and
// routes that setting the old value would not bring back.
const leastMTU, mostMTU = 1280, 65535

func (k *mtu) plan(m *machine, look bool) ([]change, error) {
	index, err := m.device(k.dev)
	if err != nil {
		return nil, err
	}
	switch {
	case look:
	case k.mtu == 0:
		return nil, errors.New("--mtu is missing: how many bytes?")
	case k.mtu < leastMTU:
		return nil, fmt.Errorf("--mtu: %d is below %d, where the kernel takes IPv6 off an interface for good", k.mtu, leastMTU)
	case k.mtu > mostMTU:
		return nil, fmt.Errorf("--mtu: %d is above %d", k.mtu, mostMTU)
	}
	t := target{Kind: kindFile, Scope: scopeNamespace, Path: netDir + k.dev + "/mtu", Dev: k.dev, Index: index}
	return []change{{target: t, want: fmt.Sprintf("%d\n", k.mtu)}}, nil
}
