package leash

import "os"

// Passed names the variables of the caller's own environment that every process
// gets: without a path no script finds its programs.
var Passed = []string{"PATH"}

// Set is what every process gets besides, whatever the caller has: messages and
// numbers in one form.
var Set = map[string]string{"LC_ALL": "C"}

// Environment is all that a process starts with, but for what its Spec adds.
func Environment() []string {
	env := Caller(Passed...)
	for name, value := range Set {
		env = append(env, name+"="+value)
	}
	return env
}

// Caller gives those of the named variables that the caller has, in the form of
// Spec.Env: for a process that needs to know where the caller's files lie.
func Caller(names ...string) []string {
	env := []string{}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
