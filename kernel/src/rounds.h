// Rounds: groups have turns, most demanding first, until a full round places nobody.
//
// Groups that other pods may still help are tried again; until then those rest whom nothing has
// helped. All of it is one call, so that a thread that packs needs Python for few questions.
#pragma once

#include "packing.h"
#include "turns.h"

namespace joiner {

// Who packs: what rounds ask of it.
class Packer {
public:
    virtual ~Packer() = default;

    // Whether nobody waits for the answer any more.
    virtual bool cancelled() = 0;
    // Makes an ask of a group known, by its position among them, and returns its number.
    virtual int ask(int group, int position) = 0;
    // Places pods of a group where an earlier plan put them.
    virtual void keep(int group) = 0;
    // Returns what may help a group that was refused.
    virtual std::vector<Cause> causes(int group) = 0;
};

class Rounds {
public:
    explicit Rounds(Packing& packing) : packing_(packing) {}
    Rounds(const Rounds&) = delete;

    // Gives turns to these groups, then to those whom others may have helped, until nobody has one;
    // returns false if it was cancelled in between.
    bool run(const std::vector<int>& groups, Packer& packer);
    // Returns the positions of the asks by which a group looks for places now.
    std::vector<int> positions(int group) const;

private:
    bool stop();
    void take_turn(int group);
    bool place(int group);
    bool fits_on_claim(int group, int first) const;
    bool awaits(const Packing::Group& group) const;
    int ask(int group, int position);

    Packing& packing_;
    Turns turns_;
    Packer* packer_ = nullptr;
    // Since it was last asked whether anybody waits.
    int work_ = 0;
    bool stopped_ = false;
};

}  // namespace joiner
