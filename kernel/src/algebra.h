// What the kernel asks of Python: the algebra of labels, and what few pods have for themselves.
//
// Every answer of the algebra is remembered, so that a question is asked once per solve.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "domain_set.h"
#include "numbers.h"

namespace joiner {

// The domains of one label key that a pod may use.
struct Bound {
    int key;
    DomainSet within;
    bool operator==(const Bound&) const = default;
};
// At most one per key, in order of the keys.
using Bounds = std::vector<Bound>;

// One label key over what a claim may still become.
struct KeyView {
    // Per offering the index into `numbers`; -1 for those that the claim cannot become.
    std::vector<int> group;
    // The domains of such an offering, in order of their values; 0 alone for none.
    std::vector<std::vector<int>> numbers;
    // Whether the key gets any value that somebody asks for.
    bool open = false;
    // Whether it stays in these domains, whatever the claim becomes.
    bool closed = false;
    // All of them.
    DomainSet domains;
};

class Algebra {
public:
    virtual ~Algebra() = default;

    // Returns the class that claims become if a pod moves in; -1 if it cannot.
    virtual int narrow(int known, int place, const Bounds& bounds) = 0;
    // Returns the class of an empty claim of a pool, on these rows only if there are any.
    virtual int root(int pool, const Mask* rows) = 0;
    // Returns of a class what some of a pool's arrivals come to, and no others; -1 if nothing.
    virtual int reached(int known, int pool, const std::vector<int>& arrivals) = 0;
    // Returns the class with these offerings only.
    virtual int restrict(int known, const Mask& offerings) = 0;
    virtual KeyView view(int known, int key) = 0;
    // Returns what new nodes for a pod would be, by labels and taints, in order of the pools.
    virtual std::vector<int> new_nodes(int site) = 0;
    // Returns what claims of a class may become of all that a spread constraint looks at.
    virtual std::vector<int> admitted(int admission, int known) = 0;
    // Returns the standing bins whose labels, name and taints suit.
    virtual Mask compatible(int site) = 0;
    // Returns the domain of each standing bin; -1 where it is not decided yet.
    virtual std::vector<int> domain_of(int key) = 0;
    // Returns the standing bins that are in these domains whatever they become.
    virtual Mask within(int key, const DomainSet& domains) = 0;

    // Lowers the numbers of pods that bins take by what the pods have for themselves there.
    virtual void limit(int shape, const std::vector<int>& bins, Amounts& counts) = 0;
    // Writes down that such pods are there now.
    virtual void took(int shape, const std::vector<int>& bins, const Amounts& counts) = 0;
    // Gives the next pod its devices on a standing bin; false if there are none.
    virtual bool grant(int shape, int bin) = 0;
    // Returns the class that a claim (-1: a new one) becomes for the devices of a pod; -1 if none.
    virtual int grant_planned(int shape, int claim, int known, const Amounts& total) = 0;
    // Hands over the devices that were found last to the pod on this claim.
    virtual void hand_over(int shape, int claim) = 0;
    // Learns what a claim whose pods have devices is now, and what all its pods ask for.
    virtual void became(int claim, int known, const Amounts& total) = 0;
};

}  // namespace joiner
