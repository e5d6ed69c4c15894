package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"
)

// Limits of what a build may hand over. GitHub takes no comment of more than 65,536
// characters.
const (
	mostArchive = 256 << 10
	mostReport  = 60_000
	mostAnswer  = 16 << 20
)

// A github is GitHub's API for one repository.
type github struct {
	api, server, repository, token string
	client                         *http.Client
	kind
}

func (g *github) do(method, path string, body any, most int64) ([]byte, error) {
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(data)
	}
	q, err := http.NewRequest(method, g.api+"/repos/"+g.repository+path, sent)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/vnd.github+json")
	q.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	// The archive is at another address, to which the client does not take this along.
	q.Header.Set("Authorization", "Bearer "+g.token)
	r, err := g.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	case r.StatusCode >= 300:
		return nil, fmt.Errorf("%s %s: %s", method, path, r.Status)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s %s: more than %d bytes", method, path, most)
	}
	return data, nil
}

func (g *github) call(method, path string, body, answer any) error {
	data, err := g.do(method, path, body, mostAnswer)
	if err != nil || answer == nil {
		return err
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// download fetches the archive with the file. Its size is looked at first.
func (g *github) download(run int64) ([]byte, error) {
	var list struct {
		Artifacts []struct {
			ID      int64  `json:"id"`
			Name    string `json:"name"`
			Size    int64  `json:"size_in_bytes"`
			Expired bool   `json:"expired"`
		} `json:"artifacts"`
	}
	if err := g.call("GET", fmt.Sprintf("/actions/runs/%d/artifacts?name=%s&per_page=100", run, g.artifact), nil,
		&list); err != nil {
		return nil, err
	}
	if len(list.Artifacts) == 0 {
		return nil, errNothing("the build left no artifact named " + g.artifact)
	}
	// A run that was started again has one of each attempt, the newest first.
	a := list.Artifacts[0]
	for _, other := range list.Artifacts {
		if other.ID > a.ID {
			a = other
		}
	}
	switch {
	case a.Name != g.artifact:
		return nil, fmt.Errorf("the artifact is refused: it is named %q", a.Name)
	case a.Expired:
		return nil, errNothing("the artifact has expired")
	case a.Size > mostArchive:
		return nil, fmt.Errorf("the artifact is refused: %d bytes, %d are allowed", a.Size, mostArchive)
	}
	return g.do("GET", fmt.Sprintf("/actions/artifacts/%d/zip", a.ID), nil, mostArchive)
}

// unpack takes the file out of the archive, which must hold nothing else.
func (g *github) unpack(archive []byte) (string, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return "", err
	}
	if len(z.File) != 1 || z.File[0].Name != g.file || !z.File[0].Mode().IsRegular() {
		return "", fmt.Errorf("it holds something else than the file %s", g.file)
	}
	f, err := z.File[0].Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	// What the archive says of the file's size need not be true.
	text, err := io.ReadAll(io.LimitReader(f, g.most+1))
	switch {
	case err != nil:
		return "", err
	case int64(len(text)) > g.most:
		return "", fmt.Errorf("%s has more than %d bytes", g.file, g.most)
	case !utf8.Valid(text):
		return "", fmt.Errorf("%s is not UTF-8", g.file)
	}
	return string(text), nil
}
