package strict

import "slices"

// Called lists what is said of each of some things: what they are called, for Instead, or
// a Word that describes them.
func Called[T, V any](all []T, say func(T) V) (said []V) {
	for _, one := range all {
		said = append(said, say(one))
	}
	return said
}

// Those lists the things of which something is so, in their order.
func Those[T any](all []T, so func(T) bool) (those []T) {
	for _, one := range all {
		if so(one) {
			those = append(those, one)
		}
	}
	return those
}

// Count is how many of them there are.
func Count[T any](all []T, so func(T) bool) (n int) {
	for _, one := range all {
		if so(one) {
			n++
		}
	}
	return n
}

// First is the first of them; false if there is none.
func First[T any](all []T, so func(T) bool) (first T, ok bool) {
	if i := slices.IndexFunc(all, so); i >= 0 {
		return all[i], true
	}
	return first, false
}

// Set has what is said of each of them, once.
func Set[T any, V comparable](all []T, say func(T) V) map[V]bool {
	set := map[V]bool{}
	for _, one := range all {
		set[say(one)] = true
	}
	return set
}
