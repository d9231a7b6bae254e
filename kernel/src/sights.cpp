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
            sight.known = tally.standing | tally.foreseen;
        }
    }
    for (auto& [_, sight] : found) all_.push_back(std::move(sight));
}

bool Sights::may_replace(const std::vector<Claim>& those, const std::vector<Claim>& these) {
    for (std::size_t index = 0; index < all_.size(); ++index) {
        const Sight& sight = all_[index];
        for (const Claim& claim : these) {
            bool is_new = false;
            (there(index, claim) - sight.known).each([&](int number) {
                const auto claims = sight.possible.find(number);
                is_new |= claims == sight.possible.end() || !claims->second;
            });
            if (is_new) return false;
        }
        if (sight.several && !keeps_several(index, those, these)) return false;
    }
    return true;
}

bool Sights::keeps_several(std::size_t index, const std::vector<Claim>& those,
                           const std::vector<Claim>& these) {
    const Sight& sight = all_[index];
    std::map<int, int> left;
    const auto tell = [&](const std::vector<Claim>& claims, int by) {
        for (const Claim& claim : claims) {
            const DomainSet domains = there(index, claim);
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

DomainSet Sights::there(std::size_t sight, const Claim& claim) {
    const auto [found, is_new] = parts_.try_emplace(claim.known);
    if (is_new) {
        for (const Sight& one : all_) found->second.push_back(parts(one, claim.known));
    }
    DomainSet domains;
    for (const auto& [narrower, where] : found->second[sight]) {
        if (narrower == claim.known || classes_[narrower].has_room(claim.used)) domains |= where;
    }
    return domains;
}

Sights::Parts Sights::parts(const Sight& sight, int known) {
    Parts found;
    const auto add = [&](int narrower) {
        DomainSet domains = classes_.domains(narrower, sight.key);
        domains.remove(0);
        found.emplace_back(narrower, std::move(domains));
    };
    if (sight.admission < 0) {
        add(known);
    } else {
        for (const int narrower : topology_.admitted(sight.admission, known)) add(narrower);
    }
    return found;
}

void Sights::count(const Claim& claim, int by) {
    for (std::size_t index = 0; index < all_.size(); ++index) {
        Sight& sight = all_[index];
        const DomainSet domains = there(index, claim);
        const bool certain = domains.single();
        domains.each([&](int number) {
            sight.possible[number] += by;
            if (certain) sight.certain[number] += by;
        });
    }
}

}  // namespace joiner
