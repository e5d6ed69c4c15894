// Package http is where the lab's HTTP servers meet their peers: the routes /simple and
// /read, with the same bytes, from other libraries and servers, each as small as its own
// documentation makes it. README.md has the configuration of each, and what differs.
//
// They answer what [package catalog] answers, and the tests compare them with it.
// make peers builds those whose tools are there, and runs the tests before anything is
// timed.
package http
