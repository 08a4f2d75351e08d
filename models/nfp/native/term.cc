#include "term.h"

#include <algorithm>

#include "lpn/base/error.h"

namespace lpn::nfp {
namespace {

std::uint64_t mask(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::uint64_t signed_of(std::uint64_t v, int width) {
  if (width < 64 && (v >> (width - 1) & 1)) v |= ~mask(width);
  return v;
}

bool sum_overflows(std::uint64_t a, std::uint64_t b, int width) { return a > mask(width) - b; }

}  // namespace

Terms::Terms(std::uint32_t least_size, std::uint32_t most_size) {
  terms_.reserve(1 << 14);
  ranges_.reserve(1 << 14);
  size_ = make({Kind::kSize, kSizeBits, false});
  ranges_[size_] = {least_size, most_size};
}

TermId Terms::make(Term t) {
  const auto found = index_.find(t);
  if (found != index_.end()) return found->second;
  const auto id = static_cast<TermId>(terms_.size());
  terms_.push_back(t);
  const std::uint64_t all = t.width == 0 ? 0 : mask(t.width);
  Range r{0, all};
  const auto of = [&](TermId k) { return ranges_[k]; };
  switch (t.kind) {
    case Kind::kConst: r = {t.value, t.value}; break;
    case Kind::kAnd: r.hi = std::min(of(t.a).hi, of(t.b).hi); break;
    case Kind::kOr:
    case Kind::kXor: {
      std::uint64_t both = of(t.a).hi | of(t.b).hi;
      for (int s = 1; s < 64; s *= 2) both |= both >> s;
      r.hi = both & all;
      if (t.kind == Kind::kOr) r.lo = std::max(of(t.a).lo, of(t.b).lo);
      break;
    }
    case Kind::kAdd:
      if (!sum_overflows(of(t.a).hi, of(t.b).hi, t.width)) {
        r = {of(t.a).lo + of(t.b).lo, of(t.a).hi + of(t.b).hi};
      } else if (sum_overflows(of(t.a).lo, of(t.b).lo,
                               t.width)) {  // it always does: a constant that subtracts
        r = {(of(t.a).lo + of(t.b).lo) & all, (of(t.a).hi + of(t.b).hi) & all};
      }
      break;
    case Kind::kSub:
      if (of(t.a).lo >= of(t.b).hi) r = {of(t.a).lo - of(t.b).hi, of(t.a).hi - of(t.b).lo};
      break;
    case Kind::kMul:
      if (of(t.a).hi == 0 || of(t.b).hi <= all / of(t.a).hi)
        r = {of(t.a).lo * of(t.b).lo, of(t.a).hi * of(t.b).hi};
      break;
    case Kind::kConcat: {
      const int low = terms_[t.b].width;
      r = {of(t.a).lo << low | of(t.b).lo, of(t.a).hi << low | of(t.b).hi};
      break;
    }
    case Kind::kExtract:
      if (of(t.a).hi >> t.value <= all) r = {of(t.a).lo >> t.value, of(t.a).hi >> t.value};
      break;
    case Kind::kSext:
      if (of(t.a).hi < std::uint64_t{1} << (terms_[t.a].width - 1)) r = of(t.a);
      break;
    case Kind::kIte:
      r = {std::min(of(t.b).lo, of(t.c).lo), std::max(of(t.b).hi, of(t.c).hi)};
      break;
    case Kind::kShr: r.hi = of(t.a).hi; break;
    case Kind::kUndef:
    case Kind::kSize:
    case Kind::kArray:
    case Kind::kStore:
    case Kind::kByte:
    case Kind::kNot:
    case Kind::kShl:
    case Kind::kEq:
    case Kind::kUlt:
    case Kind::kSlt: break;
  }
  ranges_.push_back(r);
  index_.emplace(t, id);
  return id;
}

TermId Terms::constant(int width, std::uint64_t value) {
  return make(
      {Kind::kConst, static_cast<std::uint8_t>(width), false, 0, 0, 0, value & mask(width)});
}
TermId Terms::undefined(int width) {
  return make({Kind::kUndef, static_cast<std::uint8_t>(width), true});
}
TermId Terms::array(Memory memory) {
  return make({Kind::kArray, 0, false, 0, 0, 0, static_cast<std::uint64_t>(memory)});
}

TermId Terms::store(TermId array, TermId address, TermId byte) {
  // Writing back what is there changes nothing.
  if (this->byte(array, address) == byte) return array;
  return make(
      {Kind::kStore, 0, vague(array) || vague(address) || vague(byte), array, address, byte});
}

TermId Terms::byte(TermId array, TermId address) {
  if (terms_[address].kind == Kind::kUndef || terms_[array].kind == Kind::kUndef)
    return undefined(8);
  while (terms_[array].kind == Kind::kStore) {
    const Term& s = terms_[array];
    if (same(s.b, address)) return s.c;
    if (!is(eq(s.b, address), 0)) break;
    array = terms_[array].a;
  }
  return make({Kind::kByte, 8, vague(array) || vague(address), array, address});
}

TermId Terms::extract(TermId a, int low, int width) {
  const Term t = terms_[a];
  LPN_ASSERT(low >= 0 && width > 0 && low + width <= t.width);
  if (width == t.width) return a;
  switch (t.kind) {
    case Kind::kConst: return constant(width, t.value >> low);
    case Kind::kUndef: return undefined(width);
    case Kind::kConcat: {
      const int split = terms_[t.b].width;
      if (low >= split) return extract(t.a, low - split, width);
      if (low + width <= split) return extract(t.b, low, width);
      const TermId high = extract(t.a, 0, low + width - split);
      return concat(high, extract(t.b, low, split - low));
    }
    case Kind::kExtract: return extract(t.a, low + static_cast<int>(t.value), width);
    case Kind::kNot: return negated(extract(t.a, low, width));
    case Kind::kAnd: return land(extract(t.a, low, width), extract(t.b, low, width));
    case Kind::kOr: return lor(extract(t.a, low, width), extract(t.b, low, width));
    case Kind::kXor: return lxor(extract(t.a, low, width), extract(t.b, low, width));
    case Kind::kIte: {
      const TermId x = extract(t.b, low, width);
      return ite(t.a, x, extract(t.c, low, width));
    }
    case Kind::kSext: {
      const int inner = terms_[t.a].width;
      if (low + width <= inner) return extract(t.a, low, width);
      if (low >= inner) return sext(extract(t.a, inner - 1, 1), width);
      return sext(extract(t.a, low, inner - low), width);
    }
    case Kind::kAdd:
    case Kind::kSub:
    case Kind::kMul:
      if (low == 0) {
        const TermId x = extract(t.a, 0, width), y = extract(t.b, 0, width);
        return t.kind == Kind::kAdd ? add(x, y) : t.kind == Kind::kSub ? sub(x, y) : mul(x, y);
      }
      break;
    default: break;
  }
  // Bits that are never set: nothing of them is left to ask for.
  if (ranges_[a].hi >> low == 0) return constant(width, 0);
  if (ranges_[a].lo >> low == ranges_[a].hi >> low) return constant(width, ranges_[a].lo >> low);
  return make({Kind::kExtract, static_cast<std::uint8_t>(width), t.undefined, a, 0, 0,
               static_cast<std::uint64_t>(low)});
}

TermId Terms::concat(TermId high, TermId low) {
  const Term h = terms_[high], l = terms_[low];
  const int width = h.width + l.width;
  LPN_ASSERT(width <= 64);
  if (h.kind == Kind::kConst && l.kind == Kind::kConst)
    return constant(width, h.value << l.width | l.value);
  if (h.kind == Kind::kUndef && l.kind == Kind::kUndef) return undefined(width);
  if (h.kind == Kind::kConcat)
    return concat(h.a, concat(h.b, low));  // the list of pieces leans to the right
  // Neighbours that belong together: constants, undefined parts, bits of one term.
  const TermId first = l.kind == Kind::kConcat ? l.a : low;
  const Term f = terms_[first];
  TermId joined = kNoTerm;
  if (h.kind == Kind::kConst && f.kind == Kind::kConst)
    joined = constant(h.width + f.width, h.value << f.width | f.value);
  if (h.kind == Kind::kUndef && f.kind == Kind::kUndef) joined = undefined(h.width + f.width);
  if (h.kind == Kind::kExtract && f.kind == Kind::kExtract && h.a == f.a &&
      h.value == f.value + f.width)
    joined = extract(h.a, static_cast<int>(f.value), h.width + f.width);
  if (joined != kNoTerm) return l.kind == Kind::kConcat ? concat(joined, l.b) : joined;
  return make(
      {Kind::kConcat, static_cast<std::uint8_t>(width), h.undefined || l.undefined, high, low});
}

TermId Terms::zext(TermId a, int width) {
  const int more = width - terms_[a].width;
  return more == 0 ? a : concat(constant(more, 0), a);
}

TermId Terms::sext(TermId a, int width) {
  const Term t = terms_[a];
  if (width == t.width) return a;
  if (t.kind == Kind::kConst) return constant(width, signed_of(t.value, t.width));
  if (t.kind == Kind::kSext) return sext(t.a, width);
  if (t.kind == Kind::kUndef) return undefined(width);
  const TermId sign = extract(a, t.width - 1, 1);
  if (constant(sign)) return concat(constant(width - t.width, is(sign, 1) ? mask(64) : 0), a);
  return make({Kind::kSext, static_cast<std::uint8_t>(width), t.undefined, a});
}

TermId Terms::shl(TermId a, int amount) {
  const int width = terms_[a].width;
  if (amount == 0) return a;
  if (amount >= width) return constant(width, 0);
  return concat(extract(a, 0, width - amount), constant(amount, 0));
}
TermId Terms::shr(TermId a, int amount) {
  const int width = terms_[a].width;
  if (amount == 0) return a;
  if (amount >= width) return constant(width, 0);
  return concat(constant(amount, 0), extract(a, amount, width - amount));
}
TermId Terms::rotl(TermId a, int amount) {
  const int width = terms_[a].width;
  if (amount % width == 0) return a;
  return concat(extract(a, 0, width - amount), extract(a, width - amount, amount));
}

TermId Terms::shl(TermId a, TermId amount) {
  if (constant(amount))
    return shl(a, static_cast<int>(std::min<std::uint64_t>(terms_[amount].value, 64)));
  if (terms_[a].kind == Kind::kUndef || terms_[amount].kind == Kind::kUndef)
    return undefined(width(a));
  return make({Kind::kShl, terms_[a].width, vague(a) || vague(amount), a, amount});
}
TermId Terms::shr(TermId a, TermId amount) {
  if (constant(amount))
    return shr(a, static_cast<int>(std::min<std::uint64_t>(terms_[amount].value, 64)));
  if (terms_[a].kind == Kind::kUndef || terms_[amount].kind == Kind::kUndef)
    return undefined(width(a));
  return make({Kind::kShr, terms_[a].width, vague(a) || vague(amount), a, amount});
}

bool Terms::split(TermId a) const { return terms_[a].kind == Kind::kConcat; }

// f on the pieces of a and b, cut where either is; at least one is a concatenation.
template <class F>
TermId Terms::piecewise(TermId a, TermId b, const F& f) {
  const auto low_width = [&](TermId t) {  // of the first piece from above
    return terms_[t].kind == Kind::kConcat ? terms_[terms_[t].b].width : 0;
  };
  const int cut = std::max(low_width(a), low_width(b)), width = terms_[a].width;
  const TermId high = f(extract(a, cut, width - cut), extract(b, cut, width - cut));
  const TermId low = f(extract(a, 0, cut), extract(b, 0, cut));
  return concat(high, low);
}

TermId Terms::negated(TermId a) {
  const Term t = terms_[a];
  if (t.kind == Kind::kConst) return constant(t.width, ~t.value);
  if (t.kind == Kind::kUndef) return a;
  if (t.kind == Kind::kNot) return t.a;
  if (t.kind == Kind::kConcat) {
    const TermId high = negated(t.a);
    return concat(high, negated(t.b));
  }
  return make({Kind::kNot, t.width, t.undefined, a});
}

TermId Terms::land(TermId a, TermId b) {
  if (constant(a) || (a > b && !constant(b))) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (a == b) return a;
  if (is(b, 0)) return b;
  if (is(b, mask(x.width))) return a;
  if (x.kind == Kind::kNot && same(x.a, b)) return constant(x.width, 0);
  if (y.kind == Kind::kNot && same(y.a, a)) return constant(x.width, 0);
  if (y.kind == Kind::kConst) {
    // Runs of ones are extractions.
    int low = 0;
    while (!(y.value >> low & 1)) ++low;
    int end = low;
    while (end < x.width && y.value >> end & 1) ++end;
    TermId out = extract(a, low, end - low);
    if (low > 0) out = concat(out, constant(low, 0));
    if (end < x.width) {
      const TermId rest =
          land(extract(a, end, x.width - end), constant(x.width - end, y.value >> end));
      out = concat(rest, out);
    }
    return out;
  }
  if (x.width > 1 && (split(a) || split(b)))
    return piecewise(a, b, [&](TermId p, TermId q) { return land(p, q); });
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(x.width);
  return make({Kind::kAnd, x.width, x.undefined || y.undefined, a, b});
}

TermId Terms::lor(TermId a, TermId b) {
  if (constant(a) || (a > b && !constant(b))) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (a == b || is(b, 0)) return a;
  if (is(b, mask(x.width))) return b;
  if (x.kind == Kind::kNot && same(x.a, b)) return constant(x.width, mask(x.width));
  if (y.kind == Kind::kNot && same(y.a, a)) return constant(x.width, mask(x.width));
  if (x.width > 1 && (split(a) || split(b)))
    return piecewise(a, b, [&](TermId p, TermId q) { return lor(p, q); });
  if (y.kind == Kind::kConst) {  // bits that are set anyway
    int low = 0;
    const bool bit = y.value & 1;
    while (low < x.width && static_cast<bool>(y.value >> low & 1) == bit) ++low;
    const TermId bottom = bit ? constant(low, mask(64)) : extract(a, 0, low);
    return concat(lor(extract(a, low, x.width - low), constant(x.width - low, y.value >> low)),
                  bottom);
  }
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(x.width);
  return make({Kind::kOr, x.width, x.undefined || y.undefined, a, b});
}

TermId Terms::lxor(TermId a, TermId b) {
  if (constant(a) || (a > b && !constant(b))) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(x.width);
  if (same(a, b)) return constant(x.width, 0);
  if (is(b, 0)) return a;
  if (y.kind == Kind::kConst && x.kind == Kind::kConst) return constant(x.width, x.value ^ y.value);
  if (is(b, mask(x.width))) return negated(a);
  if (x.width > 1 && (split(a) || split(b)))
    return piecewise(a, b, [&](TermId p, TermId q) { return lxor(p, q); });
  if (y.kind == Kind::kConst && x.kind == Kind::kXor && constant(x.b))
    return lxor(x.a, constant(x.width, y.value ^ terms_[x.b].value));
  return make({Kind::kXor, x.width, x.undefined || y.undefined, a, b});
}

// Constants end up last: (x + y) + 5.
TermId Terms::add(TermId a, TermId b) {
  if (constant(a) || (a > b && !constant(b))) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (x.kind == Kind::kConst && y.kind == Kind::kConst) return constant(x.width, x.value + y.value);
  if (is(b, 0)) return a;
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(x.width);
  if (x.kind == Kind::kAdd && constant(x.b)) {
    if (y.kind == Kind::kConst) return add(x.a, constant(x.width, terms_[x.b].value + y.value));
    return add(add(x.a, b), x.b);
  }
  if (y.kind == Kind::kAdd && constant(y.b)) return add(add(a, y.a), y.b);
  return make({Kind::kAdd, x.width, x.undefined || y.undefined, a, b});
}

TermId Terms::sub(TermId a, TermId b) {
  const Term x = terms_[a], y = terms_[b];
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(x.width);
  if (same(a, b)) return constant(x.width, 0);
  if (y.kind == Kind::kConst) return add(a, constant(x.width, ~y.value + 1));
  if (y.kind == Kind::kAdd && constant(y.b))
    return add(sub(a, y.a), constant(x.width, ~terms_[y.b].value + 1));
  if (x.kind == Kind::kAdd && constant(x.b)) return add(sub(x.a, b), x.b);
  if (x.kind == Kind::kAdd && same(x.b, b)) return x.a;
  if (x.kind == Kind::kAdd && same(x.a, b)) return x.b;
  return make({Kind::kSub, x.width, x.undefined || y.undefined, a, b});
}

TermId Terms::mul(TermId a, TermId b) {
  if (constant(a) || (a > b && !constant(b))) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  if (x.kind == Kind::kConst && y.kind == Kind::kConst) return constant(x.width, x.value * y.value);
  if (is(b, 0)) return b;
  if (is(b, 1)) return a;
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(x.width);
  if (y.kind == Kind::kConst && (y.value & (y.value - 1)) == 0) {
    int shift = 0;
    while (y.value >> shift != 1) ++shift;
    return shl(a, shift);
  }
  return make({Kind::kMul, x.width, x.undefined || y.undefined, a, b});
}

TermId Terms::ite(TermId condition, TermId a, TermId b) {
  if (is(condition, 1) || a == b) return a;
  if (is(condition, 0)) return b;
  if (terms_[condition].kind == Kind::kNot) return ite(terms_[condition].a, b, a);
  if (terms_[condition].kind == Kind::kUndef) return undefined(width(a));
  if (width(a) == 1 && constant(a) && constant(b)) return is(a, 1) ? condition : negated(condition);
  return make(
      {Kind::kIte, terms_[a].width, vague(condition) || vague(a) || vague(b), condition, a, b});
}

TermId Terms::eq(TermId a, TermId b) {
  if (constant(a) || (a > b && !constant(b))) std::swap(a, b);
  const Term x = terms_[a], y = terms_[b];
  LPN_ASSERT(x.width == y.width);
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(1);
  if (same(a, b)) return constant(1, 1);
  if (x.kind == Kind::kConst && y.kind == Kind::kConst) return constant(1, 0);
  if (ranges_[a].hi < ranges_[b].lo || ranges_[b].hi < ranges_[a].lo) return constant(1, 0);
  if (x.width == 1 && y.kind == Kind::kConst) return y.value ? a : negated(a);
  if (split(a) || split(b)) {
    const auto low_width = [&](TermId t) { return split(t) ? terms_[terms_[t].b].width : 0; };
    const int cut = std::max(low_width(a), low_width(b)), width = x.width;
    const TermId high = eq(extract(a, cut, width - cut), extract(b, cut, width - cut));
    if (is(high, 0)) return high;
    return land(high, eq(extract(a, 0, cut), extract(b, 0, cut)));
  }
  if (y.kind == Kind::kConst) {
    switch (x.kind) {
      case Kind::kNot: return eq(x.a, constant(x.width, ~y.value));
      case Kind::kXor:
        if (y.value == 0) return eq(x.a, x.b);
        if (constant(x.b)) return eq(x.a, constant(x.width, y.value ^ terms_[x.b].value));
        break;
      case Kind::kOr:
        if (y.value == 0) {
          const TermId zero = eq(x.a, b);
          return land(zero, eq(x.b, b));
        }
        break;
      case Kind::kAdd:
        if (constant(x.b)) return eq(x.a, constant(x.width, y.value - terms_[x.b].value));
        break;
      case Kind::kSub:
        if (y.value == 0) return eq(x.a, x.b);
        break;
      case Kind::kSext: {
        const int inner = terms_[x.a].width;
        const std::uint64_t low = y.value & mask(inner);
        if ((signed_of(low, inner) & mask(x.width)) != y.value) return constant(1, 0);
        return eq(x.a, constant(inner, low));
      }
      case Kind::kIte: {
        const TermId then = eq(x.b, b), otherwise = eq(x.c, b);
        if (constant(then) || constant(otherwise))
          return lor(land(x.a, then), land(negated(x.a), otherwise));
        break;
      }
      default: break;
    }
  }
  // x + c == y + d
  if (x.kind == Kind::kAdd && y.kind == Kind::kAdd) {
    if (same(x.a, y.a)) return eq(x.b, y.b);
    if (same(x.b, y.b)) return eq(x.a, y.a);
  }
  if (x.kind == Kind::kAdd && same(x.a, b) && constant(x.b)) return constant(1, 0);
  if (y.kind == Kind::kAdd && same(y.a, a) && constant(y.b)) return constant(1, 0);
  return make({Kind::kEq, 1, x.undefined || y.undefined, a, b});
}

TermId Terms::ult(TermId a, TermId b) {
  const Term x = terms_[a], y = terms_[b];
  LPN_ASSERT(x.width == y.width);
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(1);
  if (same(a, b)) return constant(1, 0);
  if (ranges_[a].hi < ranges_[b].lo) return constant(1, 1);
  if (ranges_[a].lo >= ranges_[b].hi) return constant(1, 0);
  if (x.width == 1) return land(negated(a), b);
  // The highest bits are equal: what is below them decides; or they decide.
  if (split(a) || split(b)) {
    const auto low_width = [&](TermId t) { return split(t) ? terms_[terms_[t].b].width : 0; };
    const int cut = std::max(low_width(a), low_width(b)), width = x.width;
    const TermId ah = extract(a, cut, width - cut), bh = extract(b, cut, width - cut);
    if (same(ah, bh)) return ult(extract(a, 0, cut), extract(b, 0, cut));
    const TermId al = extract(a, 0, cut), bl = extract(b, 0, cut);
    if (same(al, bl) || constant(ult(al, bl))) {  // a < b  ==  ah < bh or (ah == bh and al < bl)
      const TermId low = ult(al, bl), less = ult(ah, bh);
      if (is(low, 0)) return less;
      if (is(low, 1)) return negated(ult(bh, ah));
    }
  }
  // What both sides have added, while neither wraps around.
  const auto wraps = [&](const Term& t) {
    return sum_overflows(ranges_[t.a].hi, ranges_[t.b].hi, t.width);
  };
  const auto offset = [&](const Term& t) {
    return t.kind == Kind::kAdd && constant(t.b) && !wraps(t) ? terms_[t.b].value : 0;
  };
  const std::uint64_t xo = x.kind == Kind::kConst ? x.value : offset(x),
                      yo = y.kind == Kind::kConst ? y.value : offset(y);
  const std::uint64_t common = std::min(xo, yo);
  if (common > 0) {
    const auto less = [&](TermId id, const Term& t) {
      if (t.kind == Kind::kConst) return constant(t.width, t.value - common);
      return add(id, constant(t.width, ~common + 1));
    };
    const TermId p = less(a, x);
    return ult(p, less(b, y));
  }
  if (y.kind == Kind::kConst && y.value == 1) return eq(a, constant(x.width, 0));
  if (x.kind == Kind::kConst && x.value == 0) return negated(eq(b, a));
  // Bits that neither side ever has.
  int used = x.width;
  while (used > 1 && !((ranges_[a].hi | ranges_[b].hi) >> (used - 1))) --used;
  if (used < x.width) {
    const TermId p = extract(a, 0, used), q = extract(b, 0, used);
    return ult(p, q);
  }
  return make({Kind::kUlt, 1, x.undefined || y.undefined, a, b});
}

TermId Terms::slt(TermId a, TermId b) {
  const Term x = terms_[a], y = terms_[b];
  if (x.kind == Kind::kUndef || y.kind == Kind::kUndef) return undefined(1);
  if (same(a, b)) return constant(1, 0);
  const int top = x.width - 1;
  const TermId sa = extract(a, top, 1), sb = extract(b, top, 1);
  if (same(sa, sb)) return ult(a, b);
  if (is(sa, 1) && is(sb, 0)) return sa;
  if (is(sa, 0) && is(sb, 1)) return sa;
  if (constant(sb) || constant(sa)) {
    // Signs decide, or both have the same.
    const TermId low = ult(extract(a, 0, top), extract(b, 0, top));
    return lor(land(sa, negated(sb)), land(negated(lxor(sa, sb)), low));
  }
  return make({Kind::kSlt, 1, x.undefined || y.undefined, a, b});
}

TermId Terms::merged(TermId a, TermId b) {
  if (a == b) return a;
  if (split(a) || split(b)) {
    const auto low_width = [&](TermId t) { return split(t) ? terms_[terms_[t].b].width : 0; };
    const int cut = std::max(low_width(a), low_width(b)), width = terms_[a].width;
    const TermId high = merged(extract(a, cut, width - cut), extract(b, cut, width - cut));
    return concat(high, merged(extract(a, 0, cut), extract(b, 0, cut)));
  }
  return undefined(width(a));
}

std::uint8_t Terms::Evaluator::read(TermId array, std::uint32_t address) {
  while (terms_[array].kind == Kind::kStore) {
    const Term& s = terms_[array];
    if ((*this)(s.b) == address) return static_cast<std::uint8_t>((*this)(s.c));
    array = s.a;
  }
  return values_.byte(static_cast<Memory>(terms_[array].value), address);
}

std::uint64_t Terms::Evaluator::operator()(TermId id) {
  const Term t = terms_[id];
  if (t.kind == Kind::kConst) return t.value;
  if (t.kind == Kind::kSize) return values_.size;
  const auto found = done_.find(id);
  if (found != done_.end()) return found->second;
  const std::uint64_t all = mask(t.width);
  std::uint64_t v = 0;
  switch (t.kind) {
    case Kind::kConst:
    case Kind::kSize: break;
    case Kind::kUndef:
    case Kind::kArray:
    case Kind::kStore: LPN_ASSERT(!"has no value");
    case Kind::kByte: v = read(t.a, static_cast<std::uint32_t>((*this)(t.b))); break;
    case Kind::kNot: v = ~(*this)(t.a); break;
    case Kind::kAnd: v = (*this)(t.a) & (*this)(t.b); break;
    case Kind::kOr: v = (*this)(t.a) | (*this)(t.b); break;
    case Kind::kXor: v = (*this)(t.a) ^ (*this)(t.b); break;
    case Kind::kAdd: v = (*this)(t.a) + (*this)(t.b); break;
    case Kind::kSub: v = (*this)(t.a) - (*this)(t.b); break;
    case Kind::kMul: v = (*this)(t.a) * (*this)(t.b); break;
    case Kind::kShl: {
      const std::uint64_t n = (*this)(t.b);
      v = n >= t.width ? 0 : (*this)(t.a) << n;
      break;
    }
    case Kind::kShr: {
      const std::uint64_t n = (*this)(t.b);
      v = n >= t.width ? 0 : (*this)(t.a) >> n;
      break;
    }
    case Kind::kConcat: v = (*this)(t.a) << terms_[t.b].width | (*this)(t.b); break;
    case Kind::kExtract: v = (*this)(t.a) >> t.value; break;
    case Kind::kSext: v = signed_of((*this)(t.a), terms_[t.a].width); break;
    case Kind::kIte: v = (*this)(t.a) ? (*this)(t.b) : (*this)(t.c); break;
    case Kind::kEq: v = (*this)(t.a) == (*this)(t.b); break;
    case Kind::kUlt: v = (*this)(t.a) < (*this)(t.b); break;
    case Kind::kSlt: {
      const int w = terms_[t.a].width;
      v = static_cast<std::int64_t>(signed_of((*this)(t.a), w)) <
          static_cast<std::int64_t>(signed_of((*this)(t.b), w));
      break;
    }
  }
  v &= all;
  done_.emplace(id, v);
  return v;
}

std::uint64_t Terms::evaluate(TermId id, Valuation& values) { return Evaluator(*this, values)(id); }

std::string Terms::text(TermId id, int depth) const {
  const Term& t = terms_[id];
  static constexpr const char* names[] = {
      "const", "undef", "size", "array", "store",  "byte",    "not",  "and", "or", "xor", "add",
      "sub",   "mul",   "shl",  "shr",   "concat", "extract", "sext", "ite", "eq", "ult", "slt"};
  if (t.kind == Kind::kConst) return std::to_string(t.value) + "'" + std::to_string(t.width);
  if (t.kind == Kind::kSize) return "size";
  if (t.kind == Kind::kArray) return t.value ? "map" : "packet";
  if (t.kind == Kind::kUndef) return "undef";
  if (depth == 0) return "...";
  std::string out = std::string("(") + names[static_cast<int>(t.kind)];
  if (t.kind == Kind::kExtract)
    out += " " + std::to_string(t.value) + "+" + std::to_string(t.width);
  out += " " + text(t.a, depth - 1);
  const bool unary = t.kind == Kind::kNot || t.kind == Kind::kExtract || t.kind == Kind::kSext;
  if (!unary) out += " " + text(t.b, depth - 1);
  if (t.kind == Kind::kIte || t.kind == Kind::kStore) out += " " + text(t.c, depth - 1);
  return out + ")";
}

}  // namespace lpn::nfp
