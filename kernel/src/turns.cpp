#include "turns.h"

#include <utility>

namespace joiner {

void Turns::begin(const std::vector<int>& groups) {
    next_ = std::set<int>(groups.begin(), groups.end());
    for (const int group : groups) resting_.erase(group);
}

int Turns::next() {
    if (round_.empty()) round_ = std::exchange(next_, {});
    if (round_.empty()) return -1;
    at_ = *round_.begin();
    round_.erase(round_.begin());
    return at_;
}

void Turns::rest(int group, const std::vector<Cause>& causes) {
    resting_.insert(group);
    for (const Cause cause : causes) waiting_[cause].insert(group);
}

void Turns::wake(Cause cause) {
    const auto found = waiting_.extract(cause);
    if (found.empty()) return;
    for (const int group : found.mapped()) wake_up(group);
}

void Turns::wake(Cause cause, const std::function<bool(int)>& helps) {
    const auto found = waiting_.find(cause);
    if (found == waiting_.end()) return;
    std::erase_if(found->second, [&](int group) {
        if (resting_.count(group) && !helps(group)) return false;
        wake_up(group);
        return true;
    });
}

void Turns::wake_up(int group) {
    if (resting_.erase(group)) (group > at_ ? round_ : next_).insert(group);
}

}  // namespace joiner
