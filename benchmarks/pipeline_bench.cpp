// SPDX-License-Identifier: MIT
// How fast pipelines are evaluated, beside a floor timed in the same process just before: for the collapsed
// time a bare max-plus loop over the slots that no jump can skip (fill and drain: 2 p slots a chunk), for the
// task graph a bare pass that dates as many tasks one after the other.
#include "benchmarks/bench_workload.hpp"
#include "common/random.hpp"
#include "vtrain_core/pipeline/collapsed.hpp"
#include "vtrain_core/pipeline/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sys/resource.h>
#include <vector>

namespace {

using namespace vtrain;
using namespace vtrain::pipeline;

struct Row {
  ScheduleKind kind;
  int stages;
  int micro_batches;
  int chunks;
  Messages messages;
  double target_us;
};

enum class StageTimes : std::uint8_t { embedding_and_logits, random, near_tie };

// Milliseconds, messages of about a fifth of a forward, 4 all-reduces a chunk, an optimizer.
Problem<double> make_problem(const Row& row, StageTimes times) {
  RandomStream random = RandomStreams(5).stream("benchmark");
  const auto stages = static_cast<std::size_t>(row.stages);
  const std::size_t chunks = stages * static_cast<std::size_t>(row.chunks);
  Problem<double> problem{.stages = row.stages,
                          .micro_batches = row.micro_batches,
                          .chunks = row.chunks,
                          .buckets = 4,
                          .kind = row.kind,
                          .messages = row.messages};
  const double width = times == StageTimes::random ? 1.0 : times == StageTimes::near_tie ? 1e-4 : 0.0;
  const auto draw = [&](double mean_s) { return mean_s * (1.0 + width * (random.uniform() - 0.5)); };
  for (std::size_t x = 0; x < chunks; ++x) {
    const double logits = times == StageTimes::embedding_and_logits && x + 1 == chunks ? 1.4 : 1.0;
    problem.forward.push_back(draw(5e-3) * logits);
    problem.backward.push_back(draw(10e-3) * logits);
    if (splits_backward(row.kind)) {
      problem.weight.push_back(0.45 * problem.backward[x]);
      problem.backward[x] *= 0.55;
    }
    problem.send_forward.push_back(x + 1 == chunks ? 0.0 : random.uniform(0.1e-3, 2e-3));
    problem.send_backward.push_back(x == 0 ? 0.0 : random.uniform(0.1e-3, 2e-3));
  }
  for (std::size_t i = 0; i < 4 * chunks; ++i)
    problem.all_reduce.push_back(random.uniform(1e-3, 5e-3));
  problem.optimizer.assign(stages, 10e-3);
  return problem;
}

// Median wall time of `work` in microseconds, which runs for some milliseconds each of 11 times.
double median_us(const auto& work) {
  const double once_s = bench::seconds_of(work);
  const auto repeats = static_cast<int>(std::clamp(3e-3 / std::max(once_s, 1e-9), 1.0, 10'000.0));
  std::array<double, 11> samples{};
  for (double& sample : samples)
    sample = bench::seconds_of([&] {
               for (int i = 0; i < repeats; ++i)
                 work();
             }) /
             repeats;
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2] * 1e6;
}

double floor_us(const Row& row) {
  const auto stages = static_cast<std::size_t>(row.stages);
  std::vector<std::int64_t> free(stages, 0);
  std::vector<std::int64_t> duration(stages, 7);
  volatile std::int64_t sink = 0;
  return median_us([&] {
    for (int slot = 0; slot < 2 * row.stages * row.chunks; ++slot) {
      std::int64_t arrival = 0;
      for (std::size_t s = 0; s < stages; ++s) {
        arrival = std::max(free[s], arrival) + duration[s];
        free[s] = std::max(arrival, free[s + 1 < stages ? s + 1 : s]) + duration[s];
      }
    }
    sink = free[0];
  });
}

void run_collapsed(const Row& row) {
  const double floor = floor_us(row);
  for (const StageTimes times :
       {StageTimes::embedding_and_logits, StageTimes::random, StageTimes::near_tie}) {
    const Problem<double> problem = make_problem(row, times);
    CollapsedEvaluator evaluator;
    const StageEnds& ends = evaluator.evaluate(problem);
    volatile double sink = 0.0;
    const double us = median_us([&] { sink = evaluator.evaluate(problem).makespan_s; });
    constexpr std::array kTimes = {"logits", "random", "near tie"};
    constexpr std::array kMessages = {"latency", "link", "blocking", "exchange"};
    fmt::print("{:<12} {:>6} {:>6} {:>6}  {:<9} {:<9} {:>9.1f} {:>8.0f} {:>7.1f} {:>7.1f}  {}\n",
               to_string(row.kind), row.stages, row.micro_batches, row.chunks,
               kMessages[static_cast<std::size_t>(row.messages)], kTimes[static_cast<std::size_t>(times)], us,
               row.target_us, us / floor,
               ends.slots > 0 ? 100.0 * static_cast<double>(ends.slots_run) / static_cast<double>(ends.slots)
                              : 0.0,
               us <= row.target_us ? "ok" : "ABOVE TARGET");
  }
  std::fflush(stdout);
}

double peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

double task_floor_s(std::size_t tasks) {
  std::vector<double> start(tasks);
  std::vector<double> end(tasks);
  volatile double sink = 0.0;
  return bench::seconds_of([&] {
    double now = 0.0;
    for (std::size_t i = 0; i < tasks; ++i) {
      start[i] = now = std::max(now, i >= 64 ? end[i - 64] : 0.0);
      end[i] = now = now + 1.0;
    }
    sink = now;
  });
}

// MT-NLG 530B's pipeline of 35 stages of 3 layers, each direction of a layer 40 operators of which 2 are
// collectives.
void run_expanded(const Row& row) {
  const Problem<double> problem = make_problem(row, StageTimes::random);
  std::vector<Piece> layers(3 * std::size_t{40});
  for (std::size_t i = 0; i < layers.size(); ++i)
    layers[i] = {.share = 1.0 + static_cast<double>(i % 7), .tensor_communication = i % 20 == 19};
  const std::vector<std::vector<Piece>> operators(problem.forward.size(), layers);
  const OperationDetail detail{.forward = operators, .backward = operators};
  const Schedule schedule = make_schedule(row.kind, row.stages, row.micro_batches, row.chunks);
  const double before = peak_rss_bytes();
  double expand_s = 0.0;
  double events_s = 0.0;
  double list_s = 0.0;
  double error = 0.0;
  std::size_t tasks = 0;
  {
    TaskGraph<double> graph(1, row.messages, {}, {});
    expand_s = bench::seconds_of([&] { graph = expand(schedule, problem, &detail); });
    tasks = graph.tasks().size();
    events_s = bench::seconds_of(
        [&] { error = simulate(graph).makespan / collapsed_time(problem).makespan_s - 1.0; });
    list_s = bench::seconds_of([&] { static_cast<void>(list_schedule(graph)); });
  }
  const double floor_s = task_floor_s(tasks);
  const double seconds = expand_s + events_s;
  fmt::print("{:<12} {:>6} {:>6} {:>9} {:>9.3f} {:>9.3f} {:>9.3f} {:>7.1f} {:>9.3f} {:>9.1e}  {}\n",
             to_string(row.kind), row.stages, row.micro_batches, tasks, expand_s, events_s, list_s,
             seconds / floor_s, (peak_rss_bytes() - before) / 1e9, error,
             seconds <= 3.0 && peak_rss_bytes() <= 1.5e9 ? "ok" : "ABOVE TARGET");
}

} // namespace

int main() {
  fmt::print("collapsed, seconds in and out\n{:<12} {:>6} {:>6} {:>6}  {:<9} {:<9} {:>9} {:>8} {:>7} {:>7}\n",
             "schedule", "stages", "micro", "chunks", "messages", "times", "us", "target", "x floor",
             "run %");
  for (const Row& row : std::vector<Row>{{ScheduleKind::one_f_one_b, 35, 240, 1, Messages::latency, 100},
                                         {ScheduleKind::one_f_one_b, 35, 240, 1, Messages::exchange, 100},
                                         {ScheduleKind::one_f_one_b, 64, 2000, 1, Messages::latency, 1000},
                                         {ScheduleKind::one_f_one_b, 105, 1920, 1, Messages::link, 1000},
                                         {ScheduleKind::zb_h1, 35, 240, 1, Messages::latency, 100},
                                         {ScheduleKind::zb_h1, 105, 1920, 1, Messages::latency, 1000},
                                         {ScheduleKind::interleaved, 35, 245, 3, Messages::latency, 1000},
                                         {ScheduleKind::interleaved, 35, 245, 3, Messages::exchange, 1000},
                                         {ScheduleKind::interleaved, 64, 1984, 2, Messages::latency, 1000},
                                         {ScheduleKind::gpipe, 105, 1920, 1, Messages::latency, 100},
                                         {ScheduleKind::zb_h1, 35, 240, 1, Messages::exchange, 100'000}})
    run_collapsed(row);
  fmt::print(
      "\ntask graph at operator granularity\n{:<12} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>9}\n",
      "schedule", "stages", "micro", "tasks", "expand s", "events s", "list s", "x floor", "RSS GB", "error");
  run_expanded({ScheduleKind::one_f_one_b, 35, 240, 1, Messages::latency, 0});
  return 0;
}
