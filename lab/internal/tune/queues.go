package tune

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// queues sets the number of an interface's queues.
type queues struct {
	dev   string
	count int
}

func (k *queues) flags(fs *flag.FlagSet) {
	fs.StringVar(&k.dev, "dev", "", "")
	fs.IntVar(&k.count, "count", -1, "")
}
func (k *queues) take(rest []string) error { return noMore(rest) }
func (k *queues) ready(*machine) error     { return nil }

func (k *queues) plan(m *machine, look bool) ([]change, error) {
	if k.count == -1 && !look {
		return nil, errors.New("--count is missing: how many queues?")
	}
	index, err := m.device(k.dev)
	if err != nil {
		return nil, err
	}
	now, most, err := m.channels(k.dev)
	if err != nil {
		return nil, err
	}
	want := now
	limit := max(most.combined, min(most.rx, most.tx))
	switch {
	case limit == 0:
		return nil, unavailable("the queues of %s cannot be set", k.dev)
	case look:
	case k.count < 1:
		return nil, fmt.Errorf("--count: %d queues would leave %s without any", k.count, k.dev)
	case k.count > limit:
		return nil, unavailable("%s has at most %s", k.dev, count(limit, "queue"))
	case most.combined > 0:
		want.combined = k.count
	default:
		want.rx, want.tx = k.count, k.count
	}
	changes, err := k.lost(m, want)
	if err != nil {
		return nil, err
	}
	t := target{Kind: kindChannels, Scope: scopeNamespace, Path: channelsName(k.dev), Dev: k.dev, Index: index}
	return append(changes, change{target: t, want: want.String()}), nil
}

// lost lists what the queues that go take with them: it is saved before the
// number, and so restored after it.
func (k *queues) lost(m *machine, want channels) ([]change, error) {
	var changes []change
	for _, f := range []struct {
		which, name string
		left        int
	}{
		{"rx", "rps_cpus", want.rx + want.combined},
		{"rx", "rps_flow_cnt", want.rx + want.combined},
		{"tx", "xps_cpus", want.tx + want.combined},
	} {
		files, err := m.queueFiles(k.dev, f.which, f.name)
		if errors.As(err, new(Unavailable)) {
			continue // there is nothing to lose
		} else if err != nil {
			return nil, err
		}
		for _, t := range files[min(f.left, len(files)):] {
			now, err := m.read(t)
			if err != nil {
				if f.which == "tx" && len(files) == 1 {
					continue // the kernel shows none of a single queue
				}
				return nil, err
			}
			if strings.Trim(now, "0,\n") != "" {
				changes = append(changes, change{target: t, keep: true})
			}
		}
	}
	return changes, nil
}

func channelsName(dev string) string { return "ethtool:" + dev + " (number of queues)" }

// channels are an interface's queues, as ethtool counts them.
type channels struct{ rx, tx, other, combined int }

func (c channels) String() string {
	return fmt.Sprintf("rx %d tx %d other %d combined %d", c.rx, c.tx, c.other, c.combined)
}

func parseChannels(text string) (c channels, err error) {
	n, err := fmt.Sscanf(text, "rx %d tx %d other %d combined %d", &c.rx, &c.tx, &c.other, &c.combined)
	if err != nil || n != 4 || c.String() != strings.TrimSpace(text) || min(c.rx, c.tx, c.other, c.combined) < 0 {
		return channels{}, fmt.Errorf("%s is no number of queues", strconv.Quote(text))
	}
	return c, nil
}

// channels reads how many queues an interface has and may have.
func (m *machine) channels(dev string) (now, most channels, err error) {
	if m.tree == "" {
		return ioctlChannels(dev)
	}
	b, err := os.ReadFile(m.madeUp(dev))
	if err != nil {
		return now, most, unavailable("the driver of %s does not let its queues be counted", dev)
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if most, err = parseChannels(strings.TrimPrefix(first, "most ")); err != nil {
		return now, most, err
	}
	now, err = parseChannels(second)
	return now, most, err
}

func (m *machine) setChannels(dev string, c channels) error {
	if m.tree == "" {
		return ioctlSetChannels(dev, c)
	}
	_, most, err := m.channels(dev)
	if err != nil {
		return err
	}
	return os.WriteFile(m.madeUp(dev), fmt.Appendf(nil, "most %s\n%s\n", most, c), 0o644)
}

// madeUp is where a made-up tree keeps what ethtool would say.
func (m *machine) madeUp(dev string) string { return m.real(path.Join("/ethtool", dev)) }
