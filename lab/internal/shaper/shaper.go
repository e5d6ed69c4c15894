// Package shaper reads the counters of the queue that shapes a wire, by netlink.
//
// These counters are compared with the line rate because the shaper charges
// every segment with its headers. With segmentation offload, the interface's
// own counters see one large packet and miss the headers of all but its first
// segment.
//
// A reading is what left the queue, not what arrived. On a pair of virtual
// interfaces these are the same except for packets in transit.
package shaper
