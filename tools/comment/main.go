// Command comment posts the report of a pull request as a comment of it, or
// updates the comment that it posted before. The workflow comment.yml runs it, with
// a token that may write to pull requests.
//
// The report comes from a build that ran the pull request's own code, so anyone
// can have written it. Nothing in it is run, and nothing in it says where it goes:
// the pull request is found by asking GitHub which one has, as its newest commit,
// the commit of the build that the event names. What the report may hold is in
// text.go.
//
// With -outcome NAME the artifact of that name holds what linerate compare --json printed,
// NAME.json. It is read as figures and names, and linerate makes the text of it, in which
// nothing of a stranger is markup.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A kind is what is posted: the one file of an artifact.
type kind struct {
	artifact, file string
	// marker is the first line of the comment, which GitHub does not show. By it and by its author
	// the comment is found again.
	marker string
	most   int64 // bytes of the file
	text   func(file string) (string, error)
	warns  string // of what the build may have done
}

var reports = kind{"report", "report.md", "<!-- lab report -->", mostReport, plain,
	"a change of `lab/` can change the report as well"}

func plain(file string) (string, error) {
	if err := allowed(file); err != nil {
		return "", fmt.Errorf("the report is refused: %w", err)
	}
	return file, nil
}

// outcome is what linerate compare printed.
func outcome(name, linerate string) kind {
	return kind{name, name + ".json", "<!-- linerate " + name + " -->", 2 << 20, func(file string) (string, error) {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("outcome-%d.json", os.Getpid()))
		defer os.Remove(path)
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			return "", err
		}
		var errs strings.Builder
		cmd := exec.Command(linerate, "combine", "--markdown", path)
		cmd.Stderr = &errs
		// Its exit status tells the verdict; what it cannot read has no text.
		text, err := cmd.Output()
		switch {
		case len(text) == 0:
			return "", fmt.Errorf("the outcome is refused: %s (%w)", strings.TrimSpace(errs.String()), err)
		case len(text) > mostReport:
			return "", fmt.Errorf("the outcome is refused: its text has more than %d bytes", mostReport)
		}
		return string(text), nil
	}, "so anyone who can change that code can change these figures"}
}

// author is who a workflow's token comments as. Nobody else can take this name.
const author = "github-actions[bot]"

// errNothing says why there is nothing to post; that is no failure.
type errNothing string

func (e errNothing) Error() string { return string(e) }

// An event is what GitHub says of the build that has ended.
type event struct {
	Run struct {
		ID      int64  `json:"id"`
		Event   string `json:"event"`
		Commit  string `json:"head_sha"`
		Branch  string `json:"head_branch"`
		HeadRep struct {
			ID    int64 `json:"id"`
			Owner struct {
				Login string `json:"login"`
			} `json:"owner"`
		} `json:"head_repository"`
	} `json:"workflow_run"`
}

func main() {
	name := flag.String("outcome", "", "post what linerate compare printed, of the artifact of this name")
	linerate := flag.String("linerate", "linerate", "the program that makes its text")
	flag.Parse()
	k := reports
	if *name != "" {
		k = outcome(*name, *linerate)
	}
	said, err := run(os.Getenv, k)
	if nothing := errNothing(""); errors.As(err, &nothing) {
		fmt.Println("nothing to post:", err)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "comment:", err)
		os.Exit(1)
	}
	fmt.Println(said)
}

func run(getenv func(string) string, k kind) (string, error) {
	data, err := os.ReadFile(getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return "", err
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return "", fmt.Errorf("the event: %w", err)
	}
	g := &github{
		api:        getenv("GITHUB_API_URL"),
		server:     getenv("GITHUB_SERVER_URL"),
		repository: getenv("GITHUB_REPOSITORY"),
		token:      getenv("GITHUB_TOKEN"),
		client:     &http.Client{Timeout: time.Minute},
		kind:       k,
	}
	return g.post(e)
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// post brings the report of the event's build to its pull request.
func (g *github) post(e event) (string, error) {
	if e.Run.Event != "pull_request" {
		return "", errNothing("the build was not of a pull request")
	}
	if !commit.MatchString(e.Run.Commit) {
		return "", fmt.Errorf("the event: %q is no commit", e.Run.Commit)
	}
	number, err := g.pullRequest(e)
	if err != nil {
		return "", err
	}
	archive, err := g.download(e.Run.ID)
	if err != nil {
		return "", err
	}
	file, err := g.unpack(archive)
	if err != nil {
		return "", fmt.Errorf("the artifact is refused: %w", err)
	}
	text, err := g.text(file)
	if err != nil {
		return "", err
	}
	run := fmt.Sprintf("%s/%s/actions/runs/%d", g.server, g.repository, e.Run.ID)
	return g.comment(number, fmt.Sprintf("%s\n%s\n\n---\nOf commit %s, by [this build](%s), which ran the code of the "+
		"pull request: %s.\n", g.marker, strings.TrimRight(text, "\n"), e.Run.Commit, run, g.warns))
}

// pullRequest is the number of the open pull request whose newest commit was built. The
// event names it only if its branch is of this repository.
func (g *github) pullRequest(e event) (int, error) {
	var all []struct {
		Number int `json:"number"`
		Head   struct {
			SHA  string `json:"sha"`
			Repo *struct {
				ID int64 `json:"id"`
			} `json:"repo"`
		} `json:"head"`
	}
	of := url.Values{"state": {"open"}, "per_page": {"100"}, "head": {e.Run.HeadRep.Owner.Login + ":" + e.Run.Branch}}
	if err := g.call("GET", "/pulls?"+of.Encode(), nil, &all); err != nil {
		return 0, err
	}
	var numbers []int
	for _, p := range all {
		if p.Head.SHA == e.Run.Commit && p.Head.Repo != nil && p.Head.Repo.ID == e.Run.HeadRep.ID {
			numbers = append(numbers, p.Number)
		}
	}
	switch len(numbers) {
	case 0:
		return 0, errNothing("no open pull request has the built commit as its newest")
	case 1:
		return numbers[0], nil
	}
	return 0, fmt.Errorf("several pull requests have this commit, and the event does not say which one was built: %v",
		numbers)
}

// comment posts a comment, or updates the one that was posted before.
func (g *github) comment(number int, body string) (string, error) {
	const pages = 20
	for page := 1; page <= pages; page++ {
		var all []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
			User struct {
				Login string `json:"login"`
				Type  string `json:"type"`
			} `json:"user"`
		}
		if err := g.call("GET", fmt.Sprintf("/issues/%d/comments?per_page=100&page=%d", number, page), nil,
			&all); err != nil {
			return "", err
		}
		for _, c := range all {
			if c.User.Login != author || c.User.Type != "Bot" || !strings.HasPrefix(c.Body, g.marker) {
				continue
			}
			err := g.call("PATCH", fmt.Sprintf("/issues/comments/%d", c.ID), map[string]string{"body": body}, nil)
			return fmt.Sprintf("updated the comment of pull request %d", number), err
		}
		if len(all) < 100 {
			err := g.call("POST", fmt.Sprintf("/issues/%d/comments", number), map[string]string{"body": body}, nil)
			return fmt.Sprintf("commented on pull request %d", number), err
		}
	}
	return "", fmt.Errorf("pull request %d has more than %d comments", number, pages*100)
}
