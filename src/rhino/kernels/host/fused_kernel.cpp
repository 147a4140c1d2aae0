// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/fused_kernel.hpp>

#include <algorithm>
#include <cstring>

#include <rhino/base/error.hpp>
#include <rhino/kernels/host/fused_program.hpp>
#include <rhino/kernels/host/index.hpp>
#include <rhino/kernels/reference/element.hpp>

namespace rhino::kernels::host {

namespace {

/// Copies `rows` rows of `row` elements, row r from `starts(r)` with `stride` between its elements.
template <class T, class Starts>
void gather_rows(T* out, const T* in, std::int64_t rows, std::int64_t row, std::int64_t stride, Starts&& starts) {
  for (std::int64_t r = 0; r < rows; ++r, out += row) {
    const T* x = in + starts(r);
    if (stride == 0) {
      const T value = *x;
      for (std::int64_t k = 0; k < row; ++k) out[k] = value;
    } else if (stride == 1 && row >= 16) {
      std::memcpy(out, x, static_cast<std::size_t>(row) * sizeof(T));
    } else {
      for (std::int64_t k = 0; k < row; ++k) out[k] = x[k * stride];
    }
  }
}

/// Walks the rows of a source in order: offsets of their first elements.
class RowWalk {
 public:
  RowWalk(const ir::Dims& shape, const FusedSource& source, std::int64_t first_row)
      : shape_(shape), strides_(source.strides), outer_(shape.empty() ? 0 : shape.size() - 1), offset_(source.offset) {
    RHINO_ASSERT(outer_ <= max_rank);
    for (std::size_t d = outer_; d-- > 0;) {
      index_[d] = first_row % shape_[d];
      first_row /= shape_[d];
      offset_ += index_[d] * strides_[d];
    }
  }
  std::int64_t offset() const { return offset_; }
  void next() {
    for (std::size_t d = outer_; d-- > 0;) {
      offset_ += strides_[d];
      if (++index_[d] < shape_[d]) return;
      offset_ -= strides_[d] * shape_[d];
      index_[d] = 0;
    }
  }

  static constexpr std::size_t max_rank = 64;

 private:
  const ir::Dims& shape_;
  const ir::Dims& strides_;
  std::size_t outer_;
  std::int64_t offset_;
  std::int64_t index_[max_rank];
};

class FusedKernel final : public Kernel {
 public:
  FusedKernel(FusedProgram program, std::shared_ptr<Scratch> scratch)
      : program_(std::move(program)), scratch_(std::move(scratch)) {
    pointer_bytes_ = static_cast<std::int64_t>((program_.registers.size() * sizeof(void*) + 63) / 64 * 64);
    scratch_->reserve(static_cast<std::size_t>(pointer_bytes_ + program_.workspace));
  }

  void run(std::span<const void* const> operands, std::span<void* const> results, void*) const override {
    if (program_.elements == 0) return;
    Run run{*this, operands, results, reinterpret_cast<std::byte**>(scratch_->data()), scratch_->data() + pointer_bytes_};
    run.prepare();
    program_.whole_rows ? run.by_whole_rows() : run.by_pieces();
  }

 private:
  struct Run {
    const FusedKernel& kernel;
    std::span<const void* const> operands;
    std::span<void* const> results;
    std::byte** pointers;
    std::byte* temps;
    const FusedProgram& program = kernel.program_;
    std::uint64_t spilled = 0;  // outputs that are written at the end of each block, 64 at most by bit

    std::byte* input(const FusedSource& source) const {
      return const_cast<std::byte*>(static_cast<const std::byte*>(operands[static_cast<std::size_t>(source.input)]));
    }

    void prepare() {
      for (std::size_t r = 0; r < program.registers.size(); ++r) {
        const FusedRegister& reg = program.registers[r];
        if (reg.place == FusedRegister::Place::Temp) pointers[r] = temps + reg.where;
        else if (reg.place == FusedRegister::Place::Constant)
          pointers[r] = const_cast<std::byte*>(program.constants.data()) + reg.where;
      }
      for (const auto& in : program.in_place) {
        const FusedSource& source = program.sources[static_cast<std::size_t>(in.source)];
        pointers[in.reg] = input(source) + source.offset * in.width;
      }
      for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        const auto& output = program.outputs[o];
        for (const auto& in : program.in_place) {
          // Written before the block's last read of the operand that it replaces.
          if (pointers[in.reg] == results[o] && in.last_task > output.task) spilled |= std::uint64_t{1} << std::min<std::size_t>(o, 63);
        }
      }
      run_tasks(0, program.row_tasks, program.block, 0);
    }

    bool is_spilled(std::size_t o) const { return (spilled >> std::min<std::size_t>(o, 63) & 1u) != 0; }

    void set_outputs(std::int64_t start) {
      for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        const auto& output = program.outputs[o];
        pointers[output.reg] =
            is_spilled(o) ? temps + output.spill : static_cast<std::byte*>(results[o]) + start * output.width;
      }
    }

    void store_spilled(std::int64_t start, std::int64_t count) {
      if (spilled == 0) return;
      for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        if (!is_spilled(o)) continue;
        const auto& output = program.outputs[o];
        std::memcpy(static_cast<std::byte*>(results[o]) + start * output.width, temps + output.spill,
                    static_cast<std::size_t>(count * output.width));
      }
    }

    void by_whole_rows() {
      for (std::int64_t start = 0; start < program.elements; start += program.block) {
        const std::int64_t count = std::min(program.block, program.elements - start);
        for (const auto& in : program.in_place) {
          if (!program.registers[static_cast<std::size_t>(in.reg)].vector) continue;
          const FusedSource& source = program.sources[static_cast<std::size_t>(in.source)];
          pointers[in.reg] = input(source) + (source.offset + start) * in.width;
        }
        set_outputs(start);
        run_tasks(program.block_tasks, program.tasks.size(), count, start / program.row);
        store_spilled(start, count);
      }
    }

    void by_pieces() {
      const std::int64_t rows = program.elements / program.row;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (const auto& in : program.in_place) {
          const FusedRegister& reg = program.registers[static_cast<std::size_t>(in.reg)];
          if (reg.rate == Rate::Run) continue;
          const FusedSource& source = program.sources[static_cast<std::size_t>(in.source)];
          pointers[in.reg] = input(source) + RowWalk(program.shape, source, r).offset() * in.width;
        }
        run_tasks(program.row_tasks, program.block_tasks, std::min(program.block, program.row), r);
        for (std::int64_t column = 0; column < program.row; column += program.block) {
          const std::int64_t count = std::min(program.block, program.row - column);
          set_outputs(r * program.row + column);
          column_ = column;
          run_tasks(program.block_tasks, program.tasks.size(), count, r);
          store_spilled(r * program.row + column, count);
          for (const auto& in : program.in_place) {
            if (program.registers[static_cast<std::size_t>(in.reg)].rate == Rate::Block) pointers[in.reg] += count * in.width;
          }
        }
      }
    }

    void run_tasks(std::size_t from, std::size_t to, std::int64_t block_count, std::int64_t first_row) {
      for (std::size_t t = from; t < to; ++t) {
        const FusedTask& task = program.tasks[t];
        const FusedRegister& result = program.registers[static_cast<std::size_t>(task.result)];
        const std::int64_t count = result.vector ? block_count : 1;
        std::byte* out = pointers[task.result];
        if (task.form == FusedTask::Form::Loop) {
          LoopArgs args{{nullptr, nullptr, nullptr}, out, count};
          for (std::size_t i = 0; i < task.args.size(); ++i) args.in[i] = pointers[task.args[i]];
          task.loop(args);
          continue;
        }
        const auto width = static_cast<std::int64_t>(ir::dtype_bytes(result.dtype));
        switch (task.form) {
          case FusedTask::Form::Copy:
            if (out != pointers[task.args[0]]) std::memcpy(out, pointers[task.args[0]], static_cast<std::size_t>(count * width));
            break;
          case FusedTask::Form::Splat: fill(out, pointers[task.args[0]], width, count); break;
          case FusedTask::Form::Load: load(task, out, width, count, first_row); break;
          default: {
            reference::ElementwiseCall call;
            call.attrs = &task.attrs;
            call.dtype = program.registers[static_cast<std::size_t>(task.args[task.kind == ir::OpKind::Select ? 1 : 0])].dtype;
            call.result_dtype = result.dtype;
            for (std::size_t i = 0; i < task.args.size(); ++i) call.inputs[i] = pointers[task.args[i]];
            call.output = out;
            call.count = count;
            task.reference(call);
          }
        }
      }
    }

    void load(const FusedTask& task, std::byte* out, std::int64_t width, std::int64_t count, std::int64_t first_row) const {
      const FusedSource& source = program.sources[static_cast<std::size_t>(task.source)];
      const std::int64_t stride = source.strides.empty() ? 0 : source.strides.back();
      RowWalk walk(program.shape, source, first_row);
      // A piece of one row, or whole rows. A value that stands for all is a row of one element.
      std::int64_t row = program.row, rows = 1, skip = 0;
      if (!program.registers[static_cast<std::size_t>(task.result)].vector) {
        row = 1;
      } else if (program.whole_rows) {
        rows = count / row;
      } else {
        row = std::min(count, row);
        skip = task.rate == Rate::Block ? column_ * stride : 0;
      }
      const auto starts = [&](std::int64_t) {
        const std::int64_t at = walk.offset() + skip;
        walk.next();
        return at;
      };
      if (source.input < 0) {
        count_up(program.registers[static_cast<std::size_t>(task.result)].dtype, out, rows, row, stride, starts);
        return;
      }
      const std::byte* in = input(source);
      const auto copy = [&]<class T>(T) {
        gather_rows(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in), rows, row, stride, starts);
      };
      switch (width) {
        case 1: return copy(std::uint8_t{});
        case 2: return copy(std::uint16_t{});
        case 4: return copy(std::uint32_t{});
        default: return copy(std::uint64_t{});
      }
    }

    /// Elements that are their own addresses.
    template <class Starts>
    static void count_up(ir::DType dtype, std::byte* out, std::int64_t rows, std::int64_t row, std::int64_t stride, Starts&& starts) {
      reference::dispatch_dtype(dtype, [&]<class T>(std::type_identity<T>) {
        T* y = reinterpret_cast<T*>(out);
        for (std::int64_t r = 0; r < rows; ++r, y += row) {
          const std::int64_t start = starts(r);
          for (std::int64_t k = 0; k < row; ++k) y[k] = reference::convert_element<T, std::int64_t>(start + k * stride);
        }
      });
    }

    std::int64_t column_ = 0;
  };

  FusedProgram program_;
  std::shared_ptr<Scratch> scratch_;
  std::int64_t pointer_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_fused_kernel(const ir::FusedExpression& expression, std::shared_ptr<Scratch> scratch) {
  return std::make_unique<FusedKernel>(compile_fused(expression), std::move(scratch));
}

}  // namespace rhino::kernels::host
