#include "recreation.h"

#include <numeric>

#include "min_values.h"

namespace joiner {
namespace {

// More than any score of what costs something.
constexpr double kFree = 1e18;

}  // namespace

Recreation::Recreation(ClaimClasses& classes, Lots& lots, Shelves& shelves,
                       std::vector<Market> markets)
    : classes_(classes),
      lots_(lots),
      shelves_(shelves),
      markets_(std::move(markets)),
      columns_(classes.resources()),
      scale_(columns_),
      left_(columns_) {}

void Recreation::begin(std::vector<Part> parts, std::vector<double> weight) {
    parts_ = std::move(parts);
    weight_ = std::move(weight);
    hosts_ = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
        return !lots_[part.lot].counted.empty() || !lots_[part.lot].rules.empty();
    });
    take({}, 0);
}

// Takes pods of the parts that have a place now.
void Recreation::take(const Filling& filling, Amount times) {
    for (const auto& [part, count] : filling.taken) parts_[part].left -= count * times;
    std::erase_if(parts_, [](const Part& part) { return !part.left; });
    order_.resize(parts_.size());
    std::iota(order_.begin(), order_.end(), 0);
    density_.resize(parts_.size());
    least_.assign(columns_, kNever);
    Amounts asked;
    for (const Part& part : parts_) {
        const Amounts& amounts = lots_[part.lot].request->amounts;
        asked.insert(asked.end(), amounts.begin(), amounts.end());
        for (std::size_t column = 0; column < columns_; ++column) {
            least_[column] = std::min(least_[column], amounts[column]);
        }
    }
    asked_ = Matrix(columns_, std::move(asked));
}

void Recreation::sort(const Amount* room) {
    for (std::size_t column = 0; column < columns_; ++column) {
        scale_[column] = room[column] > 0 ? weight_[column] / static_cast<double>(room[column]) : 0;
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const Request& request = *lots_[parts_[part].lot].request;
        double size = 1e-12;
        for (const int column : request.columns) {
            size += static_cast<double>(request.amounts[column]) * scale_[column];
        }
        density_[part] = parts_[part].worth / size;
    }
    std::sort(order_.begin(), order_.end(), [&](int one, int other) {
        if (density_[one] != density_[other]) return density_[one] > density_[other];
        return one < other;
    });
}

Amount Recreation::fitting(const Part& part, const Amount* asked, const HostCounts& hosts) const {
    if (!covers(left_.data(), asked, columns_)) return 0;
    const Lot& lot = lots_[part.lot];
    Amount count = lot.alone ? 1 : part.left;
    if (count > 1) count = std::min(count, lot.request->times(left_.data()));
    if (hosts_ || !hosts.empty()) count = std::min(count, most_more(hosts, lot));
    return count;
}

// Fills a bin as one row with what is worth most for its size, at no more than a price.
void Recreation::attempt(const Bin& bin, const Shelf::Place& place, Amount most, Filling& found) {
    found.gain = 0;
    found.known = bin.known;
    found.price = place.price;
    found.taken.clear();
    for (std::size_t column = 0; column < columns_; ++column) {
        left_[column] = place.room[column] - (bin.load ? bin.load->used[column] : 0);
    }
    HostCounts hosts;
    if (bin.load) hosts = bin.load->hosts;
    const bool wants = !classes_[bin.known].wanted.empty();
    for (const int index : order_) {
        const Part& part = parts_[index];
        Amount count = fitting(part, asked_.row(index), hosts);
        if (count <= 0) continue;
        const int known = lots_.joined(found.known, part.lot);
        if (known < 0) continue;
        if (known != found.known) {
            const Amount price = shelves_.of(known, bin.allowance).price[place.row];
            if (price > most || !holds(bin, found, known)) continue;
            found.price = price;
        }
        if (wants && !keeps_values(bin, found, index, count, known)) continue;
        const Lot& lot = lots_[part.lot];
        found.known = known;
        found.gain += static_cast<double>(count) * part.worth;
        found.taken.emplace_back(index, count);
        add(left_.data(), *lot.request, -count);
        if (hosts_ || !hosts.empty()) joiner::count(hosts, lot, count);
        if (!covers(left_.data(), least_.data(), columns_)) break;
    }
}

// Tells whether all that are on a bin already may stay there if it becomes this.
bool Recreation::holds(const Bin& bin, const Filling& found, int known) {
    const auto hold = [&](int lot) { return lots_[lot].seen.empty() || lots_.holds(known, lot); };
    if (bin.load) {
        for (const auto& [lot, _] : bin.load->pods) {
            if (!hold(lot)) return false;
        }
    }
    return std::all_of(found.taken.begin(), found.taken.end(),
                       [&](const auto& one) { return hold(parts_[one.first].lot); });
}

// Lowers a number of pods to what leaves types enough to choose from; false if that is none.
bool Recreation::keeps_values(const Bin& bin, const Filling& found, int part, Amount& count,
                              int known) {
    Amounts used(columns_);
    if (bin.load) used = bin.load->used;
    for (const auto& [other, taken] : found.taken) {
        add(used.data(), *lots_[parts_[other].lot].request, taken);
    }
    Amounts least;
    for (const MinValues& wanted : classes_[known].wanted) least.push_back(wanted.least);
    if (!joiner::keeps_values(classes_[known], used.data(), least)) return false;
    const Request& request = *lots_[parts_[part].lot].request;
    count = most_that_keep(classes_[known], used.data(), request, count, least);
    return count > 0;
}

Load Recreation::filled(const Bin& bin, const Filling& filling) {
    Load found;
    if (bin.load) {
        found = *bin.load;
    } else {
        found.used.resize(columns_);
        found.allowance = bin.allowance;
    }
    found.origin = -1;
    for (const auto& [part, count] : filling.taken) {
        put(found, lots_, parts_[part].lot, count, filling.known);
    }
    const Shelf& shelf = shelves_.of(found.known, found.allowance);
    found.price = shelf.cheapest(found.used.data(), columns_)->price;
    return found;
}

bool Recreation::fill(Load& load) {
    const Shelf& shelf = shelves_.of(load.known, load.allowance);
    const Shelf::Place* place = shelf.cheapest(load.used.data(), columns_);
    if (!place) return false;
    for (std::size_t column = 0; column < columns_; ++column) {
        if (place->room[column] - load.used[column] < least_[column]) return false;
    }
    const Bin bin{&load, load.known, load.allowance, load.price};
    Filling found;
    sort(place->room);
    attempt(bin, *place, load.price, found);
    if (found.taken.empty()) return false;
    load = filled(bin, found);
    take(found, 1);
    return true;
}

bool Recreation::open(std::vector<Load>& loads, std::vector<int> allowances, Amount budget) {
    while (!parts_.empty()) {
        Filling best;
        Bin which{};
        choose(bins(loads, allowances), budget, best, which);
        if (best.taken.empty()) return false;
        Load found = filled(which, best);
        Amount times = 1;
        if (which.load) {
            loads[which.load - loads.data()] = std::move(found);
            budget -= loads[which.load - loads.data()].price - which.paid;
        } else {
            if (which.allowance == kNoAllowance) {
                times = kUnbounded;
                for (const auto& [part, count] : best.taken) {
                    times = std::min(times, parts_[part].left / count);
                }
            } else {
                allowances.erase(std::find(allowances.begin(), allowances.end(), which.allowance));
            }
            budget -= found.price * times;
            loads.insert(loads.end(), static_cast<std::size_t>(times), found);
        }
        if (budget < 0) return false;
        take(best, times);
    }
    return true;
}

// Finds the score of a filling; tells whether it is better than the best.
bool Recreation::better(Filling& found, const Bin& bin, const Filling& best) {
    const Amount paid = found.price - bin.paid;
    found.score = paid > 0 ? found.gain / static_cast<double>(paid) : kFree;
    return found.score > best.score || (found.score == best.score && found.price < best.price);
}

// Returns what may be filled: claims that are left over, and new ones of every class that any of
// the pods may open.
std::vector<Recreation::Bin> Recreation::bins(const std::vector<Load>& loads,
                                              const std::vector<int>& allowances) {
    std::vector<Bin> found;
    for (const Load& load : loads) {
        if (load.core >= 0) found.push_back({&load, load.known, load.allowance, load.price});
    }
    for (std::size_t pool = 0; pool < markets_.size(); ++pool) {
        if (!markets_[pool].open) continue;
        const std::size_t first = found.size();
        for (const Part& part : parts_) {
            const int known = lots_.opened(static_cast<int>(pool), part.lot);
            const auto same = [&](const Bin& bin) { return bin.known == known; };
            if (known < 0 || std::any_of(found.begin() + first, found.end(), same)) continue;
            found.push_back({nullptr, known, kNoAllowance, 0});
        }
        if (!markets_[pool].limited) continue;
        const std::vector<Bin> classes(found.begin() + first, found.end());
        found.resize(first);
        for (const int allowance : std::set<int>(allowances.begin(), allowances.end())) {
            if (shelves_.pool_of(allowance) != static_cast<int>(pool)) continue;
            for (const Bin& bin : classes) {
                found.push_back({nullptr, bin.known, allowance, 0});
            }
        }
    }
    return found;
}

void Recreation::choose(const std::vector<Bin>& bins, Amount most, Filling& best, Bin& which) {
    double worth = 0;
    for (const Part& part : parts_) worth += part.worth * static_cast<double>(part.left);
    Filling found;
    for (const Bin& bin : bins) {
        const Shelf& shelf = shelves_.of(bin.known, bin.allowance);
        for (const std::vector<int>& alike : shelf.alike) {
            bool sorted = false;
            for (const int index : alike) {
                const Shelf::Place& place = shelf.places[index];
                const Amount paid = place.price - bin.paid;
                if (paid > most || static_cast<double>(paid) * best.score > worth) continue;
                if (bin.load && !covers(place.room, bin.load->used.data(), columns_)) continue;
                if (!sorted) sort(place.room);
                sorted = true;
                attempt(bin, place, bin.paid + most, found);
                if (!found.taken.empty() && better(found, bin, best)) {
                    std::swap(best, found);
                    which = bin;
                }
            }
        }
    }
}

}  // namespace joiner
