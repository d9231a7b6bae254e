// The packer that Python implements, and what its methods are called there.
#pragma once

#include "conversion.h"
#include "rounds.h"

namespace joiner {

// Lives no longer than a call to which Python has given the packer. Whoever asks has let go of
// Python's lock.
class PythonPacker : public Packer {
public:
    explicit PythonPacker(nb::handle packer) : packer_(packer) {}

    bool cancelled() override;
    int ask(int group, int position) override;
    void keep(int group) override;
    std::vector<Cause> causes(int group) override;

private:
    nb::handle packer_;
};

}  // namespace joiner
