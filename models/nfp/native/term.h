// Bit-vector terms: what registers, memory and branch conditions are while packet and memory are
// unknown.
//
// Terms are shared (equal ones have one id) and simplified as they are made, into pieces: masks,
// shifts and rotations by constants become extractions and concatenations, bitwise operations and
// equalities go piece by piece, comparisons lose what both sides have in common. Size checks become
// bounds on the packet's size that way, and tests of header fields become tests of single bytes,
// which need no solver.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace lpn::nfp {

using TermId = std::uint32_t;
constexpr TermId kNoTerm = ~TermId{0};

enum class Kind : std::uint8_t {
  kConst,  // value
  kUndef,  // nothing is known, and nothing may depend on it
  kSize,   // the packet's size, 14 bits
  kArray,  // a memory as it was: value is the Memory
  kStore,  // array a with byte c at address b
  kByte,   // byte of array a at address b, 8 bits
  kNot,
  kAnd,
  kOr,
  kXor,
  kAdd,
  kSub,
  kMul,
  kShl,
  kShr,      // by term b
  kConcat,   // a above b
  kExtract,  // width bits of a from bit `value`
  kSext,     // a with copies of its highest bit above
  kIte,      // a ? b : c
  kEq,
  kUlt,
  kSlt,  // 1 bit
};

enum class Memory : std::uint8_t { kPacket, kMap };
constexpr std::uint32_t kPacketBase = 0x80000000u;  // offset of a packet's first byte
constexpr int kSizeBits = 14;

struct Term {
  Kind kind;
  std::uint8_t width;  // bits; 0 for arrays
  bool undefined;      // something below is kUndef
  TermId a = 0, b = 0, c = 0;
  std::uint64_t value = 0;
  bool operator==(const Term&) const = default;
};

// What must be known to evaluate a term.
struct Valuation {
  std::uint32_t size = 0;
  // Byte of a memory as it was.
  virtual std::uint8_t byte(Memory memory, std::uint32_t address) = 0;
  virtual ~Valuation() = default;
};

class Terms {
 public:
  Terms(std::uint32_t least_size, std::uint32_t most_size);

  const Term& operator[](TermId id) const { return terms_[id]; }
  std::size_t count() const { return terms_.size(); }

  TermId constant(int width, std::uint64_t value);
  TermId undefined(int width);
  TermId size() const { return size_; }
  TermId array(Memory memory);
  TermId store(TermId array, TermId address, TermId byte);
  TermId byte(TermId array, TermId address);

  TermId negated(TermId a);  // ~a, and !a of one bit
  TermId land(TermId a, TermId b);
  TermId lor(TermId a, TermId b);
  TermId lxor(TermId a, TermId b);
  TermId add(TermId a, TermId b);
  TermId sub(TermId a, TermId b);
  TermId mul(TermId a, TermId b);
  TermId concat(TermId high, TermId low);
  TermId extract(TermId a, int low, int width);
  TermId zext(TermId a, int width);
  TermId sext(TermId a, int width);
  TermId shl(TermId a, int amount);
  TermId shr(TermId a, int amount);
  TermId rotl(TermId a, int amount);
  TermId shl(TermId a, TermId amount);
  TermId shr(TermId a, TermId amount);
  TermId ite(TermId condition, TermId a, TermId b);
  TermId eq(TermId a, TermId b);
  TermId ult(TermId a, TermId b);
  TermId slt(TermId a, TermId b);

  bool is(TermId id, std::uint64_t value) const {
    return terms_[id].kind == Kind::kConst && terms_[id].value == value;
  }
  bool constant(TermId id) const { return terms_[id].kind == Kind::kConst; }
  bool vague(TermId id) const { return terms_[id].undefined; }
  // Whether two terms always have one value: what is undefined here need not be what is undefined
  // there.
  bool same(TermId a, TermId b) const { return a == b && !terms_[a].undefined; }
  int width(TermId id) const { return terms_[id].width; }

  // Bounds of a term's value as an unsigned number.
  struct Range {
    std::uint64_t lo, hi;
  };
  Range range(TermId id) const { return ranges_[id]; }

  // Both terms, with parts that differ undefined.
  TermId merged(TermId a, TermId b);

  std::uint64_t evaluate(TermId id, Valuation& values);
  // The same for many terms of one valuation.
  class Evaluator {
   public:
    Evaluator(const Terms& terms, Valuation& values) : terms_(terms), values_(values) {}
    std::uint64_t operator()(TermId id);

   private:
    std::uint8_t read(TermId array, std::uint32_t address);
    const Terms& terms_;
    Valuation& values_;
    std::unordered_map<TermId, std::uint64_t> done_;
  };

  std::string text(TermId id, int depth = 6) const;

 private:
  TermId make(Term term);
  template <class F>
  TermId piecewise(TermId a, TermId b, const F& f);
  bool split(TermId a) const;

  struct Hash {
    std::size_t operator()(const Term& t) const {
      std::uint64_t h = static_cast<std::uint64_t>(t.kind) * 0x9e3779b97f4a7c15ull + t.width;
      for (const std::uint64_t v :
           {std::uint64_t{t.a}, std::uint64_t{t.b}, std::uint64_t{t.c}, t.value}) {
        h ^= v;
        h *= 0xff51afd7ed558ccdull;
        h ^= h >> 32;
      }
      return h;
    }
  };
  std::vector<Term> terms_;
  std::vector<Range> ranges_;
  std::unordered_map<Term, TermId, Hash> index_;
  TermId size_ = 0;
};

}  // namespace lpn::nfp
