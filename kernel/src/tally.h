// Tallies: how many pods of a kind there are per topology domain.
#pragma once

#include <unordered_map>

#include "domain_set.h"
#include "numbers.h"

namespace joiner {

// The key by which every bin is a domain of its own.
inline constexpr int kHost = -1;

// Whether a pod is there: whatever is bought, perhaps, or for virtual pods only.
enum class Presence { kCertain, kPerhaps, kVirtual };

struct Tally {
    // kHost or the number of a label key.
    int key = kHost;
    // Which nodes it looks at; -1 for all.
    int admission = -1;
    // The standing bins that it looks at; empty for all.
    Mask admitted;
    // Pods by domain, or by bin for hosts, how many of those may not be there, and how many are
    // virtual.
    Amounts counts;
    Amounts doubtful;
    Amounts virtuals;
    // How many there are for certain, wherever that is, and how many of those are virtual.
    Amount total = 0;
    Amount virtual_total = 0;
    // Whether virtual pods are there for who asks.
    bool counts_virtual = false;
    // Whether who has to be together with its pods need not be any more.
    bool released = false;
    // Domains of the standing bins that it looks at, and of those that are nodes already.
    DomainSet standing;
    DomainSet nodes;
    // Domains that claims will make that are not here yet, and whether they make another host.
    DomainSet foreseen;
    bool host_foreseen = false;
    // Domains of claims that it looks at: of such as end up there, and of such as may; and of those
    // at which it looks whatever they become.
    DomainSet opened;
    DomainSet open;
    DomainSet sure;
    // How many of the opened claims are in these.
    std::size_t seen = 0;
    // Whether it looks at claims, by their class, as far as known.
    std::unordered_map<int, bool> looks_at;

    bool on_hosts() const { return key == kHost; }
    Amount count(int number) const { return at(counts, number); }
    // How many there are at least.
    Amount certain(int number) const {
        return count(number) - at(doubtful, number) - (counts_virtual ? 0 : at(virtuals, number));
    }
    // How many there may be, but for those that are not there for who asks.
    Amount likely(int number) const {
        return count(number) - (counts_virtual ? 0 : at(virtuals, number));
    }
    // How many there are at least, wherever that is.
    Amount anywhere() const { return counts_virtual ? total : total - virtual_total; }
    void add(int number, Amount pods, Presence presence) {
        raise(counts, number, pods);
        if (presence == Presence::kPerhaps) raise(doubtful, number, pods);
        if (presence == Presence::kVirtual) raise(virtuals, number, pods);
    }
    void add_anywhere(Amount pods, Presence presence) {
        if (presence == Presence::kPerhaps) return;
        total += pods;
        if (presence == Presence::kVirtual) virtual_total += pods;
    }
    // The domains with any pods, or with some for certain.
    DomainSet populated() const {
        return where([&](int number) { return count(number) > 0; });
    }
    DomainSet populated_for_certain() const {
        return where([&](int number) { return certain(number) > 0; });
    }

private:
    static Amount at(const Amounts& amounts, int number) {
        return static_cast<std::size_t>(number) < amounts.size() ? amounts[number] : 0;
    }
    static void raise(Amounts& amounts, int number, Amount pods) {
        if (static_cast<std::size_t>(number) >= amounts.size()) amounts.resize(number + 1);
        amounts[number] += pods;
    }
    template <typename Test>
    DomainSet where(Test test) const {
        DomainSet found;
        for (int number = 0; number < static_cast<int>(counts.size()); ++number) {
            if (test(number)) found.add(number);
        }
        return found;
    }
};

}  // namespace joiner
