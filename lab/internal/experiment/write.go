package experiment

import (
	"regexp"

	"github.com/pelletier/go-toml/v2"
)

// silent are lines that say nothing: of a field that was not given, or of a table with none that was.
var silent = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^(cores|(line_rate|burst|queue)_\w+) = 0(\.0)?\n|^\w+ = (''|\[\]|false)\n`),
	regexp.MustCompile(`(?m)^\[(claims\.needs|servers)\]\n\n?`),
}

// Write gives a design as a file, which Parse reads as the same design.
func (x Experiment) Write() ([]byte, error) {
	text, err := toml.Marshal(x)
	for _, lines := range silent {
		text = lines.ReplaceAll(text, nil)
	}
	return text, err
}
