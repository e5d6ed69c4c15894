package proc

import "os"

// Passed names the caller's variables that every process gets: without PATH no
// script finds its programs.
var Passed = []string{"PATH"}

// Environment is a process's whole environment, without what its Spec adds. Messages
// and numbers have one form, whatever language the caller has.
func Environment() []string { return append(Caller(Passed...), "LC_ALL=C") }

// Caller gives the named variables that the caller has, in the form of
// Spec.Env, for a process that needs to know where the caller's files are.
func Caller(names ...string) []string {
	env := []string{}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
