// Turns: which group is tried next, and which ones rest until something may help them.
//
// Apart from rounds because nothing is placed here. Were everybody tried again after each
// placement, time would be quadratic as soon as pods wait for each other; so who is refused rests
// until what it is refused by has changed. Groups come in one order, and nobody comes twice in a
// round; who is woken by a group that comes before it comes in the same round, else in the next.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace joiner {

// What may help a group: that a tally, by its number, counts more pods, or one of these.
using Cause = int;
// Any pod has got a place.
inline constexpr Cause kPlaced = -1;
// There is a new claim.
inline constexpr Cause kOpened = -2;
// A claim has become something that none was before.
inline constexpr Cause kBecome = -3;
// There is a new claim with room for a pod of the group.
inline constexpr Cause kRoom = -4;

// Speaks of groups by their place in the order.
class Turns {
public:
    // Gives a turn to these; only once nobody has one.
    void begin(const std::vector<int>& groups);
    // Returns whose turn it is now; -1 if it is nobody's.
    int next();
    // Lets a group rest after its turn until one of these may help it.
    void rest(int group, const std::vector<Cause>& causes);
    // Gives a turn to all groups that this may help.
    void wake(Cause cause);
    // Gives a turn to those of them whom `helps` accepts.
    void wake(Cause cause, const std::function<bool(int)>& helps);

private:
    void wake_up(int group);

    std::set<int> round_;
    std::set<int> next_;
    // Whose turn it is.
    int at_ = -1;
    std::set<int> resting_;
    // Who rests, by what may help them; some of them may be awake again.
    std::map<Cause, std::set<int>> waiting_;
};

}  // namespace joiner
