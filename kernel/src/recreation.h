// Finds places for pods that were taken out of claims: in room that is left, then on new claims.
//
// A new claim is what holds most worth for its price when it is filled with the pods that are worth
// most for their size; then it becomes the cheapest that has room for them.
#pragma once

#include "load.h"

namespace joiner {

// Pods of a lot that have no place, and what one of them counts for now.
struct Part {
    int lot;
    Amount left;
    double worth;
};

// What may be bought of a pool.
struct Market {
    bool open;
    // Whether a new claim has to take over what another one was allowed to be.
    bool limited;
};

class Recreation {
public:
    Recreation(ClaimClasses& classes, Lots& lots, Shelves& shelves, std::vector<Market> markets);

    // Takes pods for which places are to be found, and how much each resource weighs in their size.
    void begin(std::vector<Part> parts, std::vector<double> weight);
    bool done() const { return parts_.empty(); }
    // Fills the room that a claim has as what it is cheapest as; false if nothing fits.
    bool fill(Load& load);
    // Finds places for all on claims that are left over, which may grow, and new ones; false if
    // that would cost more than `budget` beside what those cost already.
    //
    // `allowances`: of claims that are gone, each good for one new claim.
    bool open(std::vector<Load>& loads, std::vector<int> allowances, Amount budget);

private:
    // Something to fill: a claim, or a new one of a class.
    struct Bin {
        const Load* load;
        int known;
        int allowance;
        // What it costs before.
        Amount paid;
    };
    // What came of filling it as one row.
    struct Filling {
        double gain = 0;
        double score = 0;
        Amount price = kNever;
        int known = -1;
        std::vector<std::pair<int, Amount>> taken;
    };

    void sort(const Amount* room);
    void attempt(const Bin& bin, const Shelf::Place& place, Amount most, Filling& found);
    Amount fitting(const Part& part, const Amount* asked, const HostCounts& hosts) const;
    static bool better(Filling& found, const Bin& bin, const Filling& best);
    bool holds(const Bin& bin, const Filling& found, int known);
    bool keeps_values(const Bin& bin, const Filling& found, int part, Amount& count, int known);
    std::vector<Bin> bins(const std::vector<Load>& loads, const std::vector<int>& allowances);
    void choose(const std::vector<Bin>& bins, Amount most, Filling& best, Bin& which);
    Load filled(const Bin& bin, const Filling& filling);
    void take(const Filling& filling, Amount times);

    ClaimClasses& classes_;
    Lots& lots_;
    Shelves& shelves_;
    std::vector<Market> markets_;
    std::size_t columns_;
    std::vector<Part> parts_;
    std::vector<double> weight_;
    // Whether hosts, or who looks at what, matter to any of the pods.
    bool hosts_ = false;
    // What a pod of each part asks for, and the least that any of them does.
    Matrix asked_;
    Amounts least_;
    // Parts, those first that are worth most for their size, and what they are worth for it.
    std::vector<int> order_;
    std::vector<double> density_;
    std::vector<double> scale_;
    Amounts left_;
};

}  // namespace joiner
