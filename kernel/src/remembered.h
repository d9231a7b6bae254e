// Answers that are asked for once.
#pragma once

#include <utility>

namespace joiner {

// Returns what is known under a key. What is not is asked for first: if that throws, nothing is
// kept, and asking may add to the same map.
template <typename Known, typename Ask>
typename Known::mapped_type& remembered(Known& known, const typename Known::key_type& key,
                                        Ask ask) {
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    auto answer = ask();
    return known.try_emplace(key, std::move(answer)).first->second;
}

}  // namespace joiner
