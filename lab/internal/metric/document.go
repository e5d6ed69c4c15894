package metric

// An Entry describes a metric for pages.
type Entry struct {
	Unit           Unit   `json:"unit"`
	Label          string `json:"label"`
	Doc            string `json:"doc"`
	MeasuresClient bool   `json:"measures_client"`
}

// Document describes all metrics by name, for pages.
func Document() map[string]Entry {
	out := make(map[string]Entry, len(all))
	for _, m := range all {
		out[m.Name] = Entry{m.Unit, m.Label, m.Doc, m.MeasuresClient}
	}
	return out
}
