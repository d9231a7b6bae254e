#include "sights.h"

namespace joiner {

Sights::Sights(Packing& packing) : topology_(packing.topology()), classes_(packing.classes()) {
    std::map<std::pair<int, int>, Sight> found;
    for (const Placement& placement : packing.placements()) {
        for (const SpreadRule& rule : topology_.ask(placement.ask).rules.spread) {
            const Tally& tally = topology_.tally(rule.tally);
            if (tally.on_hosts()) continue;
            Sight& sight = found[{tally.key, tally.admission}];
            sight.key = tally.key;
            sight.admission = tally.admission;
            sight.several |= rule.min_domains > 0;
            sight.standing = tally.standing;
        }
    }
    for (auto& [_, sight] : found) all_.push_back(std::move(sight));
}

bool Sights::may_replace(const std::vector<int>& those, const std::vector<int>& these) {
    for (std::size_t index = 0; index < all_.size(); ++index) {
        const Sight& sight = all_[index];
        for (const int known : these) {
            bool is_new = false;
            (there(known)[index] - sight.standing).each([&](int number) {
                const auto claims = sight.possible.find(number);
                is_new |= claims == sight.possible.end() || !claims->second;
            });
            if (is_new) return false;
        }
        if (sight.several && !keeps_several(sight, index, those, these)) return false;
    }
    return true;
}

bool Sights::keeps_several(const Sight& sight, std::size_t index, const std::vector<int>& those,
                           const std::vector<int>& these) {
    std::map<int, int> left;
    const auto tell = [&](const std::vector<int>& classes, int by) {
        for (const int known : classes) {
            const DomainSet& domains = there(known)[index];
            if (domains.single()) domains.each([&](int number) { left[number] += by; });
        }
    };
    tell(those, -1);
    tell(these, 1);
    return std::all_of(left.begin(), left.end(), [&](const auto& one) {
        const auto before = sight.certain.find(one.first);
        const int count = before == sight.certain.end() ? 0 : before->second;
        return one.second >= 0 || count + one.second > 0 || sight.standing.has(one.first);
    });
}

const std::vector<DomainSet>& Sights::there(int known) {
    const auto [found, is_new] = there_.try_emplace(known);
    if (is_new) {
        for (const Sight& sight : all_) found->second.push_back(where(sight, known));
    }
    return found->second;
}

DomainSet Sights::where(const Sight& sight, int known) {
    DomainSet found;
    if (sight.admission < 0) {
        found = classes_.domains(known, sight.key);
    } else {
        for (const int narrower : topology_.admitted(sight.admission, known)) {
            found |= classes_.domains(narrower, sight.key);
        }
    }
    found.remove(0);
    return found;
}

void Sights::count(int known, int by) {
    const std::vector<DomainSet>& domains = there(known);
    for (std::size_t index = 0; index < all_.size(); ++index) {
        Sight& sight = all_[index];
        const bool certain = domains[index].single();
        domains[index].each([&](int number) {
            sight.possible[number] += by;
            if (certain) sight.certain[number] += by;
        });
    }
}

}  // namespace joiner
