// The values of topology keys, numbered as they are met; number 0 of every key is "no such label".
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace joiner {

class Domains {
public:
    // Returns the number of a label key.
    int key(const std::string& name);
    // Returns the number of a value of a key.
    int number(int key, const std::string& value);
    // How many numbers of a key are in use, that of absence included.
    int count(int key) const { return static_cast<int>(keys_.at(key).values.size()); }
    // Returns where each number stands in order of the values.
    const std::vector<int>& places(int key) const;

private:
    struct Key {
        std::vector<std::string> values{""};
        std::unordered_map<std::string, int> numbers;
        mutable std::vector<int> places;
    };
    std::vector<Key> keys_;
    std::unordered_map<std::string, int> numbers_;
};

}  // namespace joiner
