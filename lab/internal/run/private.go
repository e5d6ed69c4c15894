package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Private refuses a file that has one of some words in it: names and addresses of
// hosts, users or directories, which no results file tells. A host that is called
// by one of the lab's own words, as "server" or "wire", or as a condition is, "c1" for
// instance, cannot be told from it.
func Private(f *results.File, words ...string) error {
	text, err := results.Encode(f)
	if err != nil {
		return err
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	there := map[string]bool{}
	gather(all, there)
	for _, c := range f.Conditions {
		delete(there, c.ID)
	}
	for _, word := range words {
		if word = trim(strings.ToLower(word)); word != "" && there[word] && !vocabulary()[word] {
			return fmt.Errorf("the run's file would have %q in it, a name or an address of the fleet, and is not kept; this "+
				"is a fault of the lab", word)
		}
	}
	return nil
}

// gather collects the words of all strings, but not the names of fields.
func gather(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		for _, word := range wordsOf(v) {
			into[word] = true
		}
	case []any:
		for _, one := range v {
			gather(one, into)
		}
	case map[string]any:
		for _, one := range v {
			gather(one, into)
		}
	}
}

func wordsOf(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-@", r)
	})
	for i, word := range all {
		all[i] = trim(word)
	}
	return all
}

func trim(word string) string { return strings.Trim(word, ".-_@") }

// vocabulary has the lab's own words.
var vocabulary = sync.OnceValue(func() map[string]bool {
	texts := []string{"client clients server servers fiber host lab linux localhost node go fleet",
		strings.Join(setting.Names(), " ")}
	for _, g := range gate.All {
		texts = append(texts, g.Name, g.Closes)
	}
	for name, m := range metric.Document() {
		texts = append(texts, name, m.Label, m.Doc)
	}
	return strict.Set(wordsOf(strings.Join(texts, " ")), func(word string) string { return word })
})
