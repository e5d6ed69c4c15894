package perf

import (
	"os"
	"reflect"
	"testing"
	"time"
)

func TestStacksAreReadWhateverASymbolHasInIt(t *testing.T) {
	got := Parse([]byte("\tffffffff816bba2a ksys_write ([kernel.kallsyms])\n\t           990bb syscall.write (/srv/two)\n\n" +
		"\t          c494db v8::internal::(anonymous namespace)::Invoke (/usr/bin/node)\n" +
		"\t    7f13d800f6af [unknown] (/tmp/perf-1.map)\n\t    7f13d800f6b0 [unknown] ([unknown])\n\n\n" +
		"\t  4a1b2c f(int (*)()) (/srv/old (deleted))\n\t  4a1b2d main.parse\n\tffff8000816bba2a"))
	want := []Stack{
		{{true, "ksys_write", "[kernel.kallsyms]"}, {false, "syscall.write", "/srv/two"}},
		{{false, "v8::internal::(anonymous namespace)::Invoke", "/usr/bin/node"}, {false, "", "/tmp/perf-1.map"}, {}},
		{{false, "f(int (*)())", "/srv/old"}, {false, "main.parse", ""}, {Kernel: true}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\tffffffff816bba2a ksys_write ([kernel.kallsyms])\n\n\t 1 a (b (deleted))\n 2 ()\n 3 )\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, s := range Parse(text) {
			if len(s) == 0 {
				t.Error("a stack without a frame")
			}
		}
	})
}

// Nothing is left of sampling a process that does not exist.
func TestFailedSamplingLeavesNothing(t *testing.T) {
	if why := Usable(); why != "" {
		t.Skip(why)
	}
	dir := t.TempDir()
	if s, err := Record(t.Context(), dir, []int{1 << 30}, 50*time.Millisecond); err == nil {
		t.Errorf("it gave %+v", s)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
