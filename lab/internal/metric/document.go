package metric

// An Entry is how pages are told of a metric.
type Entry struct {
	Unit           Unit   `json:"unit"`
	Label          string `json:"label"`
	Doc            string `json:"doc"`
	MeasuresClient bool   `json:"measures_client"`
}

// Document gives all metrics by name, for pages.
func Document() map[string]Entry {
	out := make(map[string]Entry, len(all))
	for _, m := range all {
		out[m.Name] = Entry{m.Unit, m.Label, m.Doc, m.MeasuresClient}
	}
	return out
}
