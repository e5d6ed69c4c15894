package audit

import (
	"fmt"
	"strings"
	"testing"
)

func TestVerdictsOfClaims(t *testing.T) {
	const about = "[[claims]]\nid = \"c\"\nplace = \"p\"\nsays = \"s\"\nmetric = \"throughput_rps\"\n"
	for more, want := range map[string]string{
		"needs = [\"repeats\"]\nruns = 1": "inconclusive  one run of each has no " +
			"interval",
		"needs = [\"repeats\"]\nruns = 5": "inconclusive  5 runs of each has no " +
			"interval",
		"needs = [\"repeats\"]\nruns = 6": "inconclusive agrees its own figures " +
			"bear it out",
		"needs = [\"client-cpu\", \"server-cpu\"]": "inconclusive  the client's CPU was " +
			"not recorded; the server's CPU was not recorded",
		"needs = [\"comparison\"]": "inconclusive  the run it would be " +
			"compared with was not made",
		"needs = [\"comparison\"]\ncomparison = true": "inconclusive agrees its own figures " +
			"bear it out",
		"needs = [\"repeats\"]\nclient_busy = \"1 - idle\"":      "invalid  measures the client: its cores were 100 % busy",
		"needs = [\"client-cpu\"]\nclient_busy = \"0.5 - idle\"": "inconclusive agrees its own figures bear it out",
		"checks = [\"half\"]": "inconclusive agrees its own figures bear it out",
		"checks = [\"half\", \"off\"]\nneeds = [\"repeats\"]\nclient_busy = \"1\"": "refuted  the text's own figures " +
			"contradict it: a sentence",
	} {
		text, err := Parse("99", []byte(small+"[[checks]]\nid = \"off\"\nkind = \"delta\"\nof = \"rate\"\nequals = \"1\"\n"+
			about+more))
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		files, err := auditOf(text)
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		c := files[0].Claims[0]
		if got := fmt.Sprintf("%s %s %s", c.Verdict, c.SingleRun, c.Reason); got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
	// CPU time per request is valid whatever the wall was.
	text, err := Parse("99", []byte(small+strings.Replace(about, "throughput_rps", "server_cpu_per_request_s", 1)+
		"needs = [\"client-cpu\"]\nclient_busy = \"1\""))
	if err != nil {
		t.Fatal(err)
	}
	if files, err := auditOf(text); err != nil || files[0].Claims[0].SingleRun != Agrees {
		t.Errorf("%+v, %v", files[0].Claims, err)
	}
}
