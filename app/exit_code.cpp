// SPDX-License-Identifier: MIT
#include "app/exit_code.hpp"

#include "common/assert.hpp"
#include "common/diagnostics.hpp"

#include <new>

namespace vtrain {

Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& e) {
    return {ExitCode::bad_input, e.what()};
  } catch (const SimulationError& e) {
    return {ExitCode::simulation, std::string("error: ") + e.what()};
  } catch (const IoError& e) {
    return {ExitCode::io, std::string("error: ") + e.what()};
  } catch (const CapabilityError& e) {
    return {ExitCode::capability, std::string("error: ") + e.what()};
  } catch (const Interrupted& e) {
    return {ExitCode::interrupted, e.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::internal, "error: out of memory"};
  } catch (const std::exception& e) {
    return {ExitCode::internal, std::string("internal error: ") + e.what() + " (please report this)"};
  } catch (...) {
    return {ExitCode::internal, "internal error of an unknown kind (please report this)"};
  }
}

} // namespace vtrain
