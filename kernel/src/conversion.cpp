#include "conversion.h"

namespace joiner {
namespace {

template <typename Out, typename Held>
Out owned(Held held, std::initializer_list<std::size_t> shape) {
    auto* kept = new Held(std::move(held));
    nb::capsule owner(kept, [](void* one) noexcept { delete static_cast<Held*>(one); });
    return Out(kept->data(), shape, owner);
}

}  // namespace

nb::int_ to_bits(const DomainSet& domains) {
    std::vector<std::uint64_t> words = domains.words();
    words.push_back(domains.rest() ? ~std::uint64_t{0} : 0);
    if (words.size() == 1) return nb::int_(domains.rest() ? -1 : 0);
    // The first word alone says it all if its sign is that of the rest.
    if (words.size() == 2 && words[0] >> 63 == (domains.rest() ? 1u : 0u)) {
        return nb::int_(static_cast<std::int64_t>(words[0]));
    }
    const nb::bytes bytes(reinterpret_cast<const char*>(words.data()), words.size() * 8);
    const nb::object from_bytes = nb::module_::import_("builtins").attr("int").attr("from_bytes");
    return nb::cast<nb::int_>(from_bytes(bytes, "little", nb::arg("signed") = true));
}

IntsOut to_ints(Amounts amounts) {
    const std::size_t size = amounts.size();
    return owned<IntsOut>(std::move(amounts), {size});
}

IntsOut to_ints(const std::vector<int>& numbers) {
    return to_ints(Amounts(numbers.begin(), numbers.end()));
}

RowsOut to_rows(const Matrix& rows) {
    return owned<RowsOut>(Amounts(rows.cells()), {rows.rows(), rows.columns()});
}

FlagsOut to_flags(const Mask& mask) {
    auto* kept = new bool[mask.size()];
    std::copy(mask.begin(), mask.end(), kept);
    nb::capsule owner(kept, [](void* one) noexcept { delete[] static_cast<bool*>(one); });
    return FlagsOut(kept, {mask.size()}, owner);
}

}  // namespace joiner
