package derive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/plot"
)

// figures draws what pages declare, and the ratios that the pages of claims show.
func figures(j *archive.Journal, book *plot.Book, add func(path string, v any) error) error {
	var faults []error
	for _, x := range j.Experiments {
		drawn, err := book.Claims(x.Name)
		if err == nil && len(drawn) > 0 {
			err = add(j.Root.Ratios(x.Name), drawn)
		}
		faults = append(faults, err)
	}
	for _, dir := range []string{"", "journal"} {
		pages, err := filepath.Glob(j.Root.Path("content", dir, "*.md"))
		faults = append(faults, err)
		for _, path := range pages {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(path), ".md")
			drawn, card, err := book.Page(j.Root.Rel(path), text)
			if err == nil && len(drawn) > 0 {
				err = add(j.Root.Figures(name), drawn)
			}
			if err == nil && card != nil {
				err = add(j.Root.Card(name), card)
			}
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
