package run

import (
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// parse reads what a client printed that cannot take turns.
func (l load) parse(stdout []byte) (*measure.Result, error) {
	switch l.generator {
	case setting.Sink:
		return generator.ParseSink(stdout)
	case setting.Readers:
		return generator.ParseReaders(stdout)
	}
	r, err := generator.ParseAutocannon(stdout)
	if err == nil {
		generator.Asked(r, l.rate) // autocannon does not print it
	}
	return r, err
}
