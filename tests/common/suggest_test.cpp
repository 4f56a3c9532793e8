// SPDX-License-Identifier: MIT
#include "common/suggest.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace vtrain;

TEST_CASE("a name that was not typed to its end is continued, whatever else is near") {
  CHECK(suggest("dgx-a100", {"dgx-h100", "dgx-a100-80g", "dgx-a100-40g"}) ==
        "did you mean 'dgx-a100-80g'? (available: dgx-a100-80g, dgx-a100-40g, dgx-h100)");
}

TEST_CASE("the edit distance counts insertions, deletions, substitutions and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("srtf", "srtf") == 0);
  CHECK(edit_distance("srtff", "srtf") == 1);
  CHECK(edit_distance("stf", "srtf") == 1);
  CHECK(edit_distance("sttf", "srtf") == 1);
  CHECK(edit_distance("strf", "srtf") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ca", "abc") == 3); // optimal string alignment; the unrestricted distance is 2
}

TEST_CASE("a near name is suggested and all names are listed, nearest first") {
  CHECK(suggest("srff", {"fifo", "las", "srtf"}) == "did you mean 'srtf'? (available: srtf, fifo, las)");
  CHECK(suggest("runn", {"name", "run"}) == "did you mean 'run'? (available: run, name)");
}

TEST_CASE("nothing near gives the list alone") {
  CHECK(suggest("gandiva", {"fifo", "las"}) == "available: fifo, las");
  CHECK(suggest("x", {"tp", "pp"}) == "available: tp, pp");
  CHECK(suggest("", {"fifo"}) == "available: fifo");
  CHECK(suggest("x", {}).empty());
}

TEST_CASE("a name that contains another, or is part of it, is near") {
  CHECK(suggest("elastic", {"fifo", "elasticflow"}).starts_with("did you mean 'elasticflow'?"));
  CHECK(suggest("srtf-preemptive", {"fifo", "srtf"}).starts_with("did you mean 'srtf'?"));
}

TEST_CASE("capital letters do not count") {
  CHECK(suggest("SRTF", {"fifo", "srtf"}).starts_with("did you mean 'srtf'?"));
  CHECK(
      suggest("a100-sxm-80gb", {"V100-SXM2", "A100-SXM-80GB"}).starts_with("did you mean 'A100-SXM-80GB'?"));
}

TEST_CASE("candidates at the same distance keep their order") {
  CHECK(suggest("abcd", {"abcx", "abcy", "xbcd"}) == "did you mean 'abcx'? (available: abcx, abcy, xbcd)");
}

TEST_CASE("twelve names are listed at most") {
  std::vector<std::string> candidates;
  for (char letter = 'a'; letter < 'a' + 15; ++letter)
    candidates.emplace_back(4, letter);
  const std::string hint = suggest("oooo", candidates);
  CHECK(hint ==
        "did you mean 'oooo'? (available: oooo, aaaa, bbbb, cccc, dddd, eeee, ffff, gggg, hhhh, iiii, "
        "jjjj, kkkk and 3 more)");
}
