// Package endtoend holds the tests of the lab on a fleet: a server, clients and a
// controller in namespaces of this machine, as lab/scripts/fleet.sh makes them.
//
// All parts are real ones: sshd and ssh, Ansible's inventory, the lab that make
// build has built, its server and its generator. The tests break links, hosts and
// processes, and ask for a named failure, for nothing that is left behind and for
// whatever was complete. How fast anything went they never ask: all hosts share this
// machine's cores.
//
// Where no fleet can be made, each test is skipped and says why.
package endtoend
