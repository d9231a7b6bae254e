#include "rounds.h"

namespace joiner {
namespace {

// Work between two questions whether anybody still waits for the answer: some milliseconds, against
// a question for which another thread may have to make way. An attempt to place pods looks at all
// bins; a question to Python may be about thousands of preferences.
constexpr int kBetweenLooks = 1024;
constexpr int kBinsPerUnit = 256;
constexpr int kUnitsOfAQuestion = 32;

}  // namespace

bool Rounds::run(const std::vector<int>& groups, Packer& packer) {
    packer_ = &packer;
    work_ = kBetweenLooks;
    std::vector<int> turns;
    for (const int group : groups) turns.push_back(packing_.group(group).turn);
    turns_.begin(turns);
    while (!stop()) {
        const int turn = turns_.next();
        if (turn < 0) return true;
        take_turn(packing_.group_at(turn));
    }
    return false;
}

std::vector<int> Rounds::positions(int id) const {
    const Packing::Group& group = packing_.group(id);
    std::vector<int> all, near;
    for (std::size_t position = 0; position < group.wishes.size(); ++position) {
        all.push_back(static_cast<int>(position));
        if (group.wishes[position].near_companions) near.push_back(static_cast<int>(position));
    }
    return near.empty() || group.alone ? all : near;
}

bool Rounds::stop() {
    if (!stopped_ && work_ >= kBetweenLooks) {
        work_ = 0;
        stopped_ = packer_->cancelled();
    }
    work_ += 1 + packing_.bins().size() / kBinsPerUnit;
    return stopped_;
}

void Rounds::take_turn(int id) {
    const Packing::Group& group = packing_.group(id);
    // A real pod may be helped by the node of a virtual one, not by that pod.
    packing_.topology().set_virtual(group.is_virtual);
    const int claims = packing_.bins().claims();
    const bool placed = place(id);
    if (stopped_) return;
    if (group.left) {
        turns_.rest(group.turn, placed ? std::vector<Cause>{kPlaced} : packer_->causes(id));
    }
    if (!placed) return;
    turns_.wake(kPlaced);
    const Topology::Changes changes = packing_.topology().changes();
    for (const int tally : changes.tallies) turns_.wake(tally);
    if (changes.opened) {
        turns_.wake(kOpened);
        turns_.wake(kRoom,
                    [&](int turn) { return fits_on_claim(packing_.group_at(turn), claims); });
    }
    if (changes.become) turns_.wake(kBecome);
}

bool Rounds::place(int id) {
    const Packing::Group& group = packing_.group(id);
    const Amount before = group.left;
    if (group.ignored || awaits(group)) return false;
    if (group.expected) packer_->keep(id);
    packing_.deferred().erase(id);
    std::set<int> led;
    for (const int position : positions(id)) {
        const int leads = group.wishes[position].leads;
        if (led.count(leads)) continue;
        const int number = ask(id, position);
        while (group.left > 0 && !stop()) {
            const bool single = leads >= 0 || group.devices;
            const Amount placed = packing_.place(id, number, single ? 1 : group.left);
            if (!placed) break;
            // Those with less of a choice go where this group has made room for them; otherwise it
            // goes on to take the domains that are the only ones for these.
            for (const int other : group.more_tied) {
                if (packing_.group(other).left) place(other);
            }
            if (leads < 0) continue;
            led.insert(leads);
            break;
        }
        // Who waits for a reservation gives up no preference to be spared the wait.
        if (!group.left || packing_.deferred().count(id) || stopped_) break;
    }
    return group.left < before;
}

// Tells whether a pod of a group may have room on a claim with this number or a higher one.
bool Rounds::fits_on_claim(int id, int first) const {
    const std::vector<Packing::Wish>& wishes = packing_.group(id).wishes;
    // All wishes are of one shape.
    const auto known = std::find_if(wishes.begin(), wishes.end(),
                                    [](const Packing::Wish& one) { return one.ask >= 0; });
    if (known == wishes.end()) return true;
    const Request& request = packing_.topology().ask(known->ask).request;
    const Bins& bins = packing_.bins();
    for (int claim = first; claim < bins.claims(); ++claim) {
        if (request.fits(bins.headroom(claim))) return true;
    }
    return false;
}

// Tells whether pods have to be near others of which none is or will be there.
bool Rounds::awaits(const Packing::Group& group) const {
    const auto empty = [&](int tally) { return !packing_.topology().tally(tally).anywhere(); };
    return std::any_of(group.awaited.begin(), group.awaited.end(), [&](const auto& tallies) {
        return std::all_of(tallies.begin(), tallies.end(), empty);
    });
}

int Rounds::ask(int id, int position) {
    int& number = packing_.group(id).wishes[position].ask;
    if (number < 0) {
        work_ += kUnitsOfAQuestion;
        number = packer_->ask(id, position);
    }
    return number;
}

}  // namespace joiner
