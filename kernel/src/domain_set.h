// Topology domains of one label key as a set of numbers; 0 stands for "has no such label".
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace joiner {

// May hold all numbers but a few: those of values that nobody has met are then in it, too.
class DomainSet {
public:
    DomainSet() = default;

    static DomainSet of(int number) {
        DomainSet found;
        found.add(number);
        return found;
    }

    // With `rest` two's complement of any length, which is what a Python int is.
    const std::vector<std::uint64_t>& words() const { return words_; }
    // Whether it holds all numbers beyond its words.
    bool rest() const { return rest_; }

    bool has(int number) const {
        const auto word = static_cast<std::size_t>(number) / 64;
        return word < words_.size() ? words_[word] >> (number % 64) & 1 : rest_;
    }
    void add(int number) {
        const auto word = static_cast<std::size_t>(number) / 64;
        if (word >= words_.size()) words_.resize(word + 1, filler());
        words_[word] |= std::uint64_t{1} << (number % 64);
        trim();
    }
    void remove(int number) {
        const auto word = static_cast<std::size_t>(number) / 64;
        if (word >= words_.size()) words_.resize(word + 1, filler());
        words_[word] &= ~(std::uint64_t{1} << (number % 64));
        trim();
    }

    bool empty() const { return !rest_ && words_.empty(); }
    // How many numbers a set without rest has.
    int size() const {
        int found = 0;
        for (const std::uint64_t word : words_) found += std::popcount(word);
        return found;
    }
    bool single() const { return !rest_ && size() == 1; }

    DomainSet operator&(const DomainSet& other) const {
        return combined(other, [](auto one, auto two) { return one & two; });
    }
    DomainSet operator|(const DomainSet& other) const {
        return combined(other, [](auto one, auto two) { return one | two; });
    }
    DomainSet operator-(const DomainSet& other) const {
        return combined(other, [](auto one, auto two) { return one & ~two; });
    }
    DomainSet operator~() const {
        DomainSet found(*this);
        for (std::uint64_t& word : found.words_) word = ~word;
        found.rest_ = !rest_;
        return found;
    }
    DomainSet& operator&=(const DomainSet& other) { return *this = *this & other; }
    DomainSet& operator|=(const DomainSet& other) { return *this = *this | other; }
    bool operator==(const DomainSet& other) const = default;

    // Calls `use` with each number of a set without rest, ascending.
    template <typename Use>
    void each(Use use) const {
        for (std::size_t index = 0; index < words_.size(); ++index) {
            for (std::uint64_t word = words_[index]; word; word &= word - 1) {
                use(static_cast<int>(index * 64) + std::countr_zero(word));
            }
        }
    }

private:
    std::uint64_t filler() const { return rest_ ? ~std::uint64_t{0} : 0; }
    // Equal sets have equal words.
    void trim() {
        while (!words_.empty() && words_.back() == filler()) words_.pop_back();
    }
    template <typename Combine>
    DomainSet combined(const DomainSet& other, Combine combine) const {
        DomainSet found;
        const std::size_t size = std::max(words_.size(), other.words_.size());
        found.words_.reserve(size);
        for (std::size_t index = 0; index < size; ++index) {
            const auto one = index < words_.size() ? words_[index] : filler();
            const auto two = index < other.words_.size() ? other.words_[index] : other.filler();
            found.words_.push_back(combine(one, two));
        }
        found.rest_ = combine(filler(), other.filler()) & 1;
        found.trim();
        return found;
    }

    std::vector<std::uint64_t> words_;
    bool rest_ = false;
};

}  // namespace joiner
