// Packing on standing bins: nodes that exist and claims in flight.
//
// Here everything is given: a pod fits as things are, or it does not.
#include "packing.h"
#include "remembered.h"

namespace joiner {

Amount Packing::place_standing(int group, int id, const Verdict& where, Amount want) {
    const Ask& ask = topology_.ask(id);
    const Shape& shape = topology_.shape(ask.shape);
    Amount placed = 0;
    if (shape.limited || shape.devices) {
        const auto [bins, counts] = room(id, where);
        for (std::size_t index = 0; index < bins.size() && placed < want; ++index) {
            const Amount count = std::min(counts[index], want - placed);
            if (count <= 0 || (shape.devices && !algebra_.grant(ask.shape, bins[index]))) continue;
            take_standing(group, id, bins[index], shape.devices ? 1 : count);
            placed += shape.devices ? 1 : count;
            if (shape.devices) break;
        }
        return placed;
    }
    each_candidate(id, where, [&](int bin) {
        Amount count = std::min(ask.request.times(bins_.free(bin)), want - placed);
        if (where.caps) count = std::min(count, (*where.caps)[bin]);
        if (count > 0) {
            take_standing(group, id, bin, count);
            placed += count;
        }
        return placed < want;
    });
    return placed;
}

std::pair<std::vector<int>, Amounts> Packing::room(int id, const Verdict& where) {
    const Ask& ask = topology_.ask(id);
    std::vector<int> bins;
    Amounts counts;
    each_candidate(id, where, [&](int bin) {
        Amount count = ask.request.times(bins_.free(bin));
        if (where.caps) count = std::min(count, (*where.caps)[bin]);
        bins.push_back(bin);
        counts.push_back(count);
        return true;
    });
    if (topology_.shape(ask.shape).limited) algebra_.limit(ask.shape, bins, counts);
    return {std::move(bins), std::move(counts)};
}

template <typename Use>
void Packing::each_candidate(int id, const Verdict& where, Use use) {
    const Ask& ask = topology_.ask(id);
    std::vector<int>& roomy = this->roomy(id);
    std::vector<const Mask*> bounds;
    for (const Bound& bound : where.bounds) bounds.push_back(&within(bound));
    std::vector<const std::vector<int>*> pins;
    for (const int key : where.pins) pins.push_back(&topology_.domain_of(key));
    std::size_t next = 0;
    std::size_t kept = 0;
    for (bool more = true; more && next < roomy.size(); ++next) {
        const int bin = roomy[next];
        // What is free only gets less: it need not be looked at again.
        if (!ask.request.fits(bins_.free(bin))) continue;
        roomy[kept++] = bin;
        const auto inside = [&](const Mask* mask) { return (*mask)[bin] != 0; };
        const auto decided = [&](const std::vector<int>* domains) { return (*domains)[bin] >= 0; };
        if (std::all_of(bounds.begin(), bounds.end(), inside) &&
            std::all_of(pins.begin(), pins.end(), decided)) {
            more = use(bin);
        }
    }
    if (kept < next) roomy.erase(roomy.begin() + kept, roomy.begin() + next);
}

std::vector<int>& Packing::roomy(int id) {
    if (roomy_for_ == id) return roomy_;
    const Ask& ask = topology_.ask(id);
    std::vector<int> found;
    if (bins_.standing()) {
        const Mask& suits = compatible(ask);
        for (int bin = 0; bin < bins_.standing(); ++bin) {
            if (suits[bin] && ask.request.fits(bins_.free(bin))) found.push_back(bin);
        }
    }
    roomy_ = std::move(found);
    roomy_for_ = id;
    return roomy_;
}

void Packing::take_standing(int group, int id, int bin, Amount count) {
    const Ask& ask = topology_.ask(id);
    bins_.take_standing(bin, ask.request, count);
    if (topology_.shape(ask.shape).limited) algebra_.took(ask.shape, {bin}, {count});
    placements_.push_back({group, id, bin, count});
    groups_.at(group).left -= count;
    topology_.place(ask.shape, bin, count);
}

const Mask& Packing::compatible(const Ask& ask) {
    return remembered(compatible_, ask.site, [&] { return algebra_.compatible(ask.site); });
}

const Mask& Packing::within(const Bound& bound) {
    return remembered(within_, classes_.bounds({bound}), [&] {
        const std::vector<int>& domains = topology_.domain_of(bound.key);
        const auto is_open = [](int number) { return number < 0; };
        if (std::any_of(domains.begin(), domains.end(), is_open)) {
            return algebra_.within(bound.key, bound.within);
        }
        Mask mask(domains.size());
        std::transform(domains.begin(), domains.end(), mask.begin(),
                       [&](int number) { return bound.within.has(number); });
        return mask;
    });
}

}  // namespace joiner
