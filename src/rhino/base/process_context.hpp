// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rhino {

/// Who this process is among the processes of the job.
struct ProcessContext {
  int rank = 0;
  int ranks = 1;
};

/// The context of this process; {0, 1} until set_process_context. Local, thread-safe.
ProcessContext process_context() noexcept;

/// Called once by the program's start-up, after MPI is up, so that messages can name the rank.
/// This is the only process-wide state of the library and is write-once: a second call with another
/// value throws InternalError.
void set_process_context(ProcessContext context);

}  // namespace rhino
