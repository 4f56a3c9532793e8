// SPDX-License-Identifier: MIT
// Strong quantities with checked dimensions. A quantity is a double in the base unit of its dimension
// (second, byte, FLOP, joule, US dollar); counts are integers. Only dimensionally valid arithmetic compiles.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace vtrain {

/// Exponents of time, data, floating-point work, energy and money.
template <int T, int D, int F, int E, int M> struct Dim {};

template <class D> class Quantity;

/// A number with a dimension. Base units: s, B, FLOP, J, USD.
template <int T, int D, int F, int E, int M> class Quantity<Dim<T, D, F, E, M>> {
public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double base) : value_(base) {}
  /// The number in the base unit. Use only at the edges: output, SimGrid calls, random draws.
  [[nodiscard]] constexpr double base() const { return value_; }

  constexpr Quantity& operator+=(Quantity o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value_ -= o.value_;
    return *this;
  }
  constexpr Quantity operator-() const { return Quantity(-value_); }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return a * k; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value_ / k); }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison with 0 in it for a pointer
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

private:
  double value_ = 0.0;
};

/// Short spelling of a quantity by its exponents.
template <int T, int D, int F, int E, int M> using Q = Quantity<Dim<T, D, F, E, M>>;

template <int T, int D, int F, int E, int M, int T2, int D2, int F2, int E2, int M2>
constexpr auto operator*(Q<T, D, F, E, M> a, Q<T2, D2, F2, E2, M2> b) {
  return Q<T + T2, D + D2, F + F2, E + E2, M + M2>(a.base() * b.base());
}
template <int T, int D, int F, int E, int M, int T2, int D2, int F2, int E2, int M2>
constexpr auto operator/(Q<T, D, F, E, M> a, Q<T2, D2, F2, E2, M2> b) {
  if constexpr (T == T2 && D == D2 && F == F2 && E == E2 && M == M2)
    return a.base() / b.base(); // same dimension: a plain ratio
  else
    return Q<T - T2, D - D2, F - F2, E - E2, M - M2>(a.base() / b.base());
}

using Seconds = Q<1, 0, 0, 0, 0>;
using Bytes = Q<0, 1, 0, 0, 0>;
using Flops = Q<0, 0, 1, 0, 0>; ///< an amount of work, never a rate
using Joules = Q<0, 0, 0, 1, 0>;
using Usd = Q<0, 0, 0, 0, 1>;
using BytesPerSecond = Q<-1, 1, 0, 0, 0>;
using FlopsPerSecond = Q<-1, 0, 1, 0, 0>;
using Watts = Q<-1, 0, 0, 1, 0>;
using UsdPerSecond = Q<-1, 0, 0, 0, 1>;
using PerSecond = Q<-1, 0, 0, 0, 0>; ///< a frequency: iterations/s, arrivals/s

inline constexpr Seconds kMinute{60.0};
inline constexpr Seconds kHour{3600.0};
inline constexpr Seconds kDay{86400.0};

/// An integer that counts one kind of thing; different tags do not mix.
template <class Tag, std::integral Rep = std::int32_t> class Count {
public:
  constexpr Count() = default;
  constexpr explicit Count(Rep v) : value_(v) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr Count& operator+=(Count o) {
    value_ = static_cast<Rep>(value_ + o.value_);
    return *this;
  }
  constexpr Count& operator-=(Count o) {
    value_ = static_cast<Rep>(value_ - o.value_);
    return *this;
  }
  friend constexpr Count operator+(Count a, Count b) { return a += b; }
  friend constexpr Count operator-(Count a, Count b) { return a -= b; }
  friend constexpr auto operator<=>(Count, Count) = default;

private:
  Rep value_ = 0;
};
using GpuCount = Count<struct GpuCountTag>;
using NodeCount = Count<struct NodeCountTag>;

/// A name for one thing of a kind: ids compare and hash, but have no arithmetic.
template <class Tag> class Id {
public:
  constexpr explicit Id(std::uint32_t v) : value_(v) {}
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

private:
  std::uint32_t value_;
};
/// A job's rank: its position in the workload after the stable sort by submit time. Breaks every tie.
using JobId = Id<struct JobIdTag>;
using NodeId = Id<struct NodeIdTag>;
using GpuId = Id<struct GpuIdTag>;

namespace literals {
constexpr Seconds operator""_s(long double v) {
  return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_s(unsigned long long v) {
  return Seconds(static_cast<double>(v));
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1073741824.0);
}
constexpr BytesPerSecond operator""_Gbps(unsigned long long v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9 / 8.0);
}
constexpr FlopsPerSecond operator""_TFLOPS(unsigned long long v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
constexpr GpuCount operator""_gpus(unsigned long long v) {
  return GpuCount(static_cast<std::int32_t>(v));
}
} // namespace literals
} // namespace vtrain

template <class Tag> struct std::hash<vtrain::Id<Tag>> {
  std::size_t operator()(vtrain::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value()); }
};
