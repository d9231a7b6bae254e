// A small generator of numbers that look random: the same on every machine.
#pragma once

#include <cstdint>

namespace joiner {

class Random {
public:
    // Source: splitmix64, so that seeds that are alike give states that are not.
    explicit Random(std::uint64_t seed) {
        std::uint64_t mixed = seed + 0x9E3779B97F4A7C15u;
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
        state_ = (mixed ^ mixed >> 31) | 1;
    }

    // Returns a number below `end`, which is positive and fits in 32 bits.
    std::size_t below(std::size_t end) {
        return static_cast<std::size_t>((next() >> 32) * static_cast<std::uint64_t>(end) >> 32);
    }
    // Returns a number from 0 to 1, 1 excluded.
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    // Source: xorshift64*.
    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Du;
    }

    std::uint64_t state_;
};

}  // namespace joiner
