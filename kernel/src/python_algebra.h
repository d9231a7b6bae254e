// The algebra that Python implements, and what its methods are called there.
#pragma once

#include "algebra.h"
#include "conversion.h"

namespace joiner {

// Keeps a weak reference: the algebra is of an object that owns the packing. Python's lock is held
// while Python answers, whether or not whoever asks had let go of it.
class PythonAlgebra : public Algebra {
public:
    explicit PythonAlgebra(nb::handle algebra) : algebra_(nb::weakref(algebra)) {}

    int narrow(int known, int place, const Bounds& bounds) override;
    int root(int pool, const Mask* rows) override;
    int reached(int known, int pool, const std::vector<int>& arrivals) override;
    int restrict(int known, const Mask& offerings) override;
    KeyView view(int known, int key) override;
    std::vector<int> new_nodes(int site) override;
    std::vector<int> admitted(int admission, int known) override;
    Mask compatible(int site) override;
    std::vector<int> domain_of(int key) override;
    Mask within(int key, const DomainSet& domains) override;
    void limit(int shape, const std::vector<int>& bins, Amounts& counts) override;
    void took(int shape, const std::vector<int>& bins, const Amounts& counts) override;
    bool grant(int shape, int bin) override;
    int grant_planned(int shape, int claim, int known, const Amounts& total) override;
    void hand_over(int shape, int claim) override;
    void became(int claim, int known, const Amounts& total) override;

private:
    template <typename... Given>
    nb::object ask(const char* method, Given&&... given);

    nb::weakref algebra_;
};

}  // namespace joiner
