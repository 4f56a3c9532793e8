// SPDX-License-Identifier: MIT
// Random pipelines.
#pragma once

#include "common/random.hpp"
#include "vtrain_core/pipeline/ticks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace vtrain::pipeline::test {

inline constexpr std::array kScheduleKinds = {ScheduleKind::gpipe, ScheduleKind::one_f_one_b,
                                              ScheduleKind::interleaved, ScheduleKind::zb_h1};
inline constexpr std::array kMessages = {Messages::latency, Messages::link, Messages::blocking,
                                         Messages::exchange};

struct Shape {
  ScheduleKind kind;
  int stages;
  int micro_batches;
  int chunks;
};

/// How the times of the stages differ.
enum class StageTimes : std::uint8_t { uniform, embedding_and_logits, uneven_layers, random, near_tie };

struct Range {
  int low;
  int high;
};

/// A whole number of the range, ends included.
inline int draw(RandomStream& random, Range range) {
  return range.low + static_cast<int>(random.below(static_cast<std::uint64_t>(range.high - range.low + 1)));
}
/// The same, small numbers as often as large ones.
inline int draw_log(RandomStream& random, Range range) {
  return std::min(range.high, static_cast<int>(
                                  std::exp(random.uniform(std::log(range.low), std::log(range.high + 1.0)))));
}
inline bool draw_bool(RandomStream& random) {
  return random.below(2) == 1;
}

/// A possible shape of at most `most` forwards on all stages.
inline Shape draw_shape(RandomStream& random, ScheduleKind kind, Range stages, Range micro_batches,
                        long most) {
  for (;;) {
    Shape shape{kind, draw_log(random, stages), draw_log(random, micro_batches), 1};
    if (kind == ScheduleKind::interleaved && shape.stages > 1) {
      shape.chunks = draw(random, {2, 6});
      shape.micro_batches = std::max(1, shape.micro_batches / shape.stages) * shape.stages;
    }
    if (static_cast<long>(shape.stages) * shape.micro_batches * shape.chunks <= most)
      return shape;
  }
}

/// Each forward takes `forward` and so on; no all-reduce, no optimizer.
inline Problem<Tick> uniform_problem(const Shape& shape, Messages messages, Tick forward, Tick backward,
                                     Tick weight, Tick message) {
  const auto chunks = static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(shape.chunks);
  Problem<Tick> problem;
  problem.stages = shape.stages;
  problem.micro_batches = shape.micro_batches;
  problem.chunks = shape.chunks;
  problem.kind = shape.kind;
  problem.messages = messages;
  problem.forward.assign(chunks, forward);
  problem.backward.assign(chunks, backward);
  if (splits_backward(shape.kind))
    problem.weight.assign(chunks, weight);
  problem.send_forward.assign(chunks, message);
  problem.send_backward.assign(chunks, message);
  problem.send_forward.back() = 0;
  problem.send_backward.front() = 0;
  return problem;
}

struct DurationRange {
  StageTimes times;
  double message_share; ///< of a forward; 0: no messages cost time
};

namespace detail {
inline void draw_compute(RandomStream& random, Problem<double>& problem, StageTimes times, double forward) {
  const double backward_share = random.uniform(1.5, 3.0);
  const double layers = draw(random, {1, 4});
  const std::size_t last = problem.forward.size() - 1; // the last virtual stage's place, as is 0 the first's
  for (std::size_t x = 0; x <= last; ++x) {
    double f = 1.0;
    double b = 1.0;
    switch (times) {
    case StageTimes::uniform: break;
    case StageTimes::embedding_and_logits:
      f += (x == 0 ? 0.05 : 0.0) + (x == last ? 0.4 : 0.0);
      b += (x == 0 ? 0.05 : 0.0) + (x == last ? 0.8 : 0.0);
      break;
    case StageTimes::uneven_layers: f = b = (layers + (random.below(4) == 0 ? 1.0 : 0.0)) / layers; break;
    case StageTimes::random:
      f = random.uniform(0.5, 1.5);
      b = random.uniform(0.5, 1.5);
      break;
    case StageTimes::near_tie:
      f = random.uniform(1.0, 1.0001);
      b = random.uniform(1.0, 1.0001);
      break;
    }
    problem.forward[x] = f * forward;
    problem.backward[x] = b * forward * backward_share;
    if (!problem.weight.empty()) {
      const double split = times == StageTimes::random ? random.uniform(0.3, 0.6) : 0.45;
      problem.weight[x] = problem.backward[x] * split;
      problem.backward[x] *= 1.0 - split;
    }
  }
}
} // namespace detail

/// A pipeline with durations in seconds; all-reduces and optimizers are drawn too.
inline Problem<double> draw_problem(RandomStream& random, const Shape& shape, Messages messages,
                                    const DurationRange& durations) {
  const auto stages = static_cast<std::size_t>(shape.stages);
  const std::size_t chunks = stages * static_cast<std::size_t>(shape.chunks);
  const double forward = random.uniform(0.5e-3, 20e-3) / shape.chunks;
  Problem<double> problem{.stages = shape.stages,
                          .micro_batches = shape.micro_batches,
                          .chunks = shape.chunks,
                          .buckets = draw_bool(random) ? draw(random, {1, 8}) : 0,
                          .kind = shape.kind,
                          .messages = messages,
                          .forward = std::vector<double>(chunks),
                          .backward = std::vector<double>(chunks),
                          .weight = std::vector<double>(splits_backward(shape.kind) ? chunks : 0),
                          .send_forward = std::vector<double>(chunks),
                          .send_backward = std::vector<double>(chunks)};
  detail::draw_compute(random, problem, durations.times, forward);
  const bool equal_messages = draw_bool(random);
  for (std::size_t x = 0; x < chunks; ++x) {
    const double message = durations.message_share * forward;
    problem.send_forward[x] = message * (equal_messages ? 1.0 : random.uniform(0.1, 2.0));
    problem.send_backward[x] = message * (equal_messages ? 1.0 : random.uniform(0.1, 2.0));
  }
  problem.send_forward.back() = 0.0;
  problem.send_backward.front() = 0.0;
  problem.all_reduce.resize(chunks * static_cast<std::size_t>(problem.buckets));
  for (double& a : problem.all_reduce)
    a = forward * random.uniform(0.05, 2.0);
  if (draw_bool(random))
    problem.optimizer.resize(stages);
  for (double& o : problem.optimizer)
    o = forward * random.uniform(0.1, 3.0);
  return problem;
}

/// A pipeline of any kind, messages and times included those that are empty; at most `most` forwards on all
/// stages.
inline Problem<double> draw_any_problem(RandomStream& random, long most) {
  const ScheduleKind kind = kScheduleKinds[random.below(kScheduleKinds.size())];
  const Shape shape = draw_shape(random, kind, {1, 64}, {1, 2000}, most);
  const double share = random.below(4) == 0 ? 0.0 : random.uniform(0.01, draw_bool(random) ? 0.3 : 3.0);
  Problem<double> problem = draw_problem(random, shape, kMessages[random.below(kMessages.size())],
                                         {static_cast<StageTimes>(random.below(5)), share});
  const auto empty_some = [&random](std::vector<double>& durations, std::uint64_t one_in) {
    for (double& duration : durations)
      duration = random.below(one_in) == 0 ? 0.0 : duration;
  };
  if (random.below(8) == 0) {
    empty_some(problem.send_forward, 2);
    empty_some(problem.send_backward, 2);
  }
  if (random.below(16) == 0) {
    empty_some(problem.forward, 4);
    empty_some(problem.backward, 4);
  }
  return problem;
}

/// What a failed check should say about its case.
inline std::string describe(const Shape& shape, Messages messages) {
  constexpr std::array kNames = {"latency", "link", "blocking", "exchange"};
  return std::string(to_string(shape.kind)) + ", " + std::to_string(shape.stages) + " stages, " +
         std::to_string(shape.micro_batches) + " micro-batches, " + std::to_string(shape.chunks) +
         " chunks, " + kNames[static_cast<std::size_t>(messages)];
}
template <class T> std::string describe(const Problem<T>& problem) {
  return describe({problem.kind, problem.stages, problem.micro_batches, problem.chunks}, problem.messages);
}

} // namespace vtrain::pipeline::test
