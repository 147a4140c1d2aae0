// SPDX-License-Identifier: Apache-2.0
#include <rhino/kernels/host/fused_program.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <rhino/base/error.hpp>

namespace rhino::kernels::host {

using ir::DType;
using ir::OpKind;

namespace {

constexpr std::int64_t row_block_minimum = 256;  // shorter rows are taken several at a time
constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool is_small_float(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

/// Kinds that a 16-bit float type does in float and rounds.
bool computed_in_float(OpKind kind) {
  switch (kind) {
    case OpKind::Select:
    case OpKind::BitcastConvert:
    case OpKind::ReducePrecision:
    case OpKind::NextAfter:
    case OpKind::Convert:
      return false;
    default:
      return true;
  }
}

class Compiler {
 public:
  explicit Compiler(const ir::FusedExpression& expression) : expression_(expression) {}

  FusedProgram compile() {
    collect_sources();
    collapse();
    choose_blocks();
    place_sources();
    for (std::size_t i = 0; i < expression_.steps.size(); ++i) {
      if (needed_[expression_.inputs.size() + i]) add_step(expression_.steps[i], expression_.inputs.size() + i);
    }
    for (std::size_t i = 0; i < expression_.outputs.size(); ++i) add_output(expression_.outputs[i]);
    sort_tasks();
    find_last_uses();
    assign_places();
    return std::move(program_);
  }

 private:
  void collect_sources() {
    needed_.assign(expression_.inputs.size() + expression_.steps.size(), false);
    for (std::uint32_t output : expression_.outputs) needed_[output] = true;
    for (std::size_t i = expression_.steps.size(); i-- > 0;) {
      if (!needed_[expression_.inputs.size() + i]) continue;
      for (std::uint32_t arg : expression_.steps[i].args) needed_[arg] = true;
    }
    register_of_.assign(needed_.size(), -1);
    source_of_.assign(needed_.size(), -1);
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      if (!needed_[i]) continue;
      FusedSource source;
      if (i < expression_.inputs.size()) {
        source = {static_cast<int>(i), expression_.inputs[i].strides, expression_.inputs[i].offset};
      } else {
        const ir::FusedStep& step = expression_.steps[i - expression_.inputs.size()];
        if (step.kind != OpKind::Iota) continue;
        source.strides.assign(expression_.shape.size(), 0);
        source.strides[static_cast<std::size_t>(std::get<ir::IotaAttrs>(step.attrs).dimension)] = 1;
      }
      RHINO_ASSERT(source.strides.size() == expression_.shape.size());
      source_of_[i] = static_cast<int>(program_.sources.size());
      program_.sources.push_back(std::move(source));
    }
  }

  /// Drops dimensions of size 1 and merges neighbours that every source walks as one.
  void collapse() {
    ir::Dims shape;
    std::vector<ir::Dims> strides(program_.sources.size());
    for (std::size_t d = 0; d < expression_.shape.size(); ++d) {
      const std::int64_t size = expression_.shape[d];
      program_.elements *= size;
      if (size == 1) continue;
      bool merges = !shape.empty();
      for (std::size_t s = 0; merges && s < strides.size(); ++s) {
        merges = strides[s].back() == program_.sources[s].strides[d] * size;
      }
      if (merges) shape.back() *= size;
      else shape.push_back(size);
      for (std::size_t s = 0; s < strides.size(); ++s) {
        const std::int64_t stride = program_.sources[s].strides[d];
        if (merges) strides[s].back() = stride;
        else strides[s].push_back(stride);
      }
    }
    for (std::size_t s = 0; s < strides.size(); ++s) program_.sources[s].strides = std::move(strides[s]);
    program_.shape = std::move(shape);
    program_.row = program_.shape.empty() ? 1 : program_.shape.back();
  }

  void choose_blocks() {
    std::size_t width = 1;
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      if (needed_[i]) width = std::max(width, ir::dtype_bytes(expression_.register_dtype(static_cast<std::uint32_t>(i))));
    }
    // About 4 KiB per register: a handful of them stay in the nearest cache.
    const std::int64_t target = width > 4 ? 512 : 1024;
    program_.whole_rows = program_.row < row_block_minimum;
    if (program_.whole_rows) {
      const std::int64_t row = std::max<std::int64_t>(program_.row, 1);
      program_.block = std::max<std::int64_t>(1, target / row) * row;
    } else {
      const std::int64_t pieces = (program_.row + target - 1) / target;
      program_.block = ((program_.row + pieces - 1) / pieces + 63) / 64 * 64;
    }
    program_.block = std::max<std::int64_t>(1, std::min(program_.block, std::max<std::int64_t>(program_.elements, 1)));
  }

  void place_sources() {
    const ir::Dims dense = ir::row_major_strides(program_.shape);
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      if (source_of_[i] < 0) continue;
      const FusedSource& source = program_.sources[static_cast<std::size_t>(source_of_[i])];
      const bool is_input = source.input >= 0;
      const std::int64_t inner = source.strides.empty() ? 0 : source.strides.back();
      const bool outer_zero =
          std::all_of(source.strides.begin(), source.strides.empty() ? source.strides.end() : source.strides.end() - 1,
                      [](std::int64_t stride) { return stride == 0; });
      FusedRegister reg;
      reg.dtype = expression_.register_dtype(static_cast<std::uint32_t>(i));
      bool in_place = false;
      if (outer_zero && inner == 0) {
        reg.vector = false;
        reg.rate = Rate::Run;
        in_place = is_input;
      } else if (!program_.whole_rows) {
        reg.vector = inner != 0;
        reg.rate = inner == 0 ? Rate::Row : Rate::Block;
        in_place = is_input && (inner == 0 || inner == 1);
        if (!in_place && outer_zero && program_.block >= program_.row) reg.rate = Rate::Run;
      } else {
        reg.vector = true;
        in_place = is_input && source.strides == dense;
        reg.rate = !in_place && outer_zero ? Rate::Run : Rate::Block;  // the same in every block
      }
      if (in_place) {
        reg.place = FusedRegister::Place::Input;
        reg.where = static_cast<std::int64_t>(program_.in_place.size());
        const int id = add_register(reg);
        program_.in_place.push_back({id, source_of_[i], 0, static_cast<std::int64_t>(ir::dtype_bytes(reg.dtype))});
        register_of_[i] = id;
        continue;
      }
      register_of_[i] = add_register(reg);
      FusedTask load;
      load.form = FusedTask::Form::Load;
      load.rate = reg.rate;
      load.result = register_of_[i];
      load.source = source_of_[i];
      pending_loads_[register_of_[i]] = load;
    }
  }

  int add_register(FusedRegister reg) {
    program_.registers.push_back(reg);
    return static_cast<int>(program_.registers.size() - 1);
  }

  FusedRegister& reg(int id) { return program_.registers[static_cast<std::size_t>(id)]; }

  /// A load goes right before the first use, so that its buffer lives as short as possible.
  void load(int id) {
    const auto pending = pending_loads_.find(id);
    if (pending == pending_loads_.end()) return;
    program_.tasks.push_back(pending->second);
    pending_loads_.erase(pending);
  }

  int constant(DType dtype, std::span<const std::byte> element) {
    FusedRegister constant;
    constant.dtype = dtype;
    constant.rate = Rate::Run;
    constant.place = FusedRegister::Place::Constant;
    constant.where = static_cast<std::int64_t>(program_.constants.size());
    program_.constants.resize(program_.constants.size() + 16);
    std::copy(element.begin(), element.end(), program_.constants.end() - 16);
    return add_register(constant);
  }

  /// Appends a task whose result is a new register; rate and form follow from the arguments.
  int emit(FusedTask task, DType dtype) {
    FusedRegister result;
    result.dtype = dtype;
    result.rate = Rate::Run;
    for (int arg : task.args) {
      load(arg);
      result.vector = result.vector || reg(arg).vector;
      result.rate = std::max(result.rate, reg(arg).rate);
    }
    task.rate = result.rate;
    task.result = add_register(result);
    program_.tasks.push_back(std::move(task));
    return program_.tasks.back().result;
  }

  int splat(int id) {
    if (reg(id).vector) return id;
    const auto known = splats_.find(id);
    if (known != splats_.end()) return known->second;
    FusedTask task;
    task.form = FusedTask::Form::Splat;
    task.args = {id};
    const int result = emit(std::move(task), reg(id).dtype);
    reg(result).vector = true;
    splats_[id] = result;
    return result;
  }

  int convert(int id, DType dtype) {
    FusedTask task;
    task.kind = OpKind::Convert;
    task.attrs = ir::ConvertAttrs{dtype};
    task.args = {id};
    return compute(std::move(task), dtype);
  }

  /// The register as f32; a 16-bit register is widened once.
  int widened(int id) {
    const auto known = widened_.find(id);
    if (known != widened_.end()) return known->second;
    const int result = convert(id, DType::F32);
    widened_[id] = result;
    return result;
  }

  static bool commutes(OpKind kind) {
    switch (kind) {
      case OpKind::Add:
      case OpKind::Multiply:
      case OpKind::Maximum:
      case OpKind::Minimum:
      case OpKind::And:
      case OpKind::Or:
      case OpKind::Xor:
        return true;
      default:
        return false;
    }
  }

  static ir::Comparison mirrored(ir::Comparison direction) {
    switch (direction) {
      case ir::Comparison::Ge: return ir::Comparison::Le;
      case ir::Comparison::Gt: return ir::Comparison::Lt;
      case ir::Comparison::Le: return ir::Comparison::Ge;
      case ir::Comparison::Lt: return ir::Comparison::Gt;
      default: return direction;
    }
  }

  /// Finds the loop of a task and appends it.
  int compute(FusedTask task, DType dtype) {
    LoopKey key;
    key.kind = task.kind;
    key.out = dtype;
    // Operand 0 of select is the predicate; the bounds of clamp have the type of its value.
    key.in = reg(task.args[task.kind == OpKind::Select ? 1 : 0]).dtype;
    if (task.kind == OpKind::Convert && key.in == key.out) return task.args[0];
    bool any_vector = false;
    for (std::size_t i = 0; i < task.args.size(); ++i) any_vector = any_vector || reg(task.args[i]).vector;
    const auto mask = [&] {
      unsigned scalars = 0;
      for (std::size_t i = 0; any_vector && i < task.args.size(); ++i) {
        if (!reg(task.args[i]).vector) scalars |= 1u << i;
      }
      return scalars;
    };
    bool total_order = false;
    if (task.kind == OpKind::Compare) {
      const auto& attrs = std::get<ir::CompareAttrs>(task.attrs);
      key.direction = attrs.direction;
      total_order = attrs.type == ir::ComparisonType::TotalOrder && ir::is_float(key.in);
    }
    if (!total_order) {
      key.scalars = mask();
      task.loop = loops().find(key);
      if (task.loop == nullptr && key.scalars == 1 && task.kind == OpKind::Compare) {
        std::swap(task.args[0], task.args[1]);
        auto& attrs = std::get<ir::CompareAttrs>(task.attrs);
        key.direction = attrs.direction = mirrored(attrs.direction);
        key.scalars = 2;
        task.loop = loops().find(key);
      } else if (task.loop == nullptr && key.scalars == 1 && commutes(task.kind)) {
        std::swap(task.args[0], task.args[1]);
        key.scalars = 2;
        task.loop = loops().find(key);
      }
      if (task.loop == nullptr && key.scalars != 0) {
        key.scalars = 0;
        if (loops().find(key) != nullptr) {
          for (int& arg : task.args) arg = splat(arg);
          task.loop = loops().find(key);
        }
      }
    }
    if (task.loop == nullptr) {
      task.form = FusedTask::Form::Reference;
      task.reference = reference::elementwise_kernel(task.kind);
      RHINO_ASSERT(task.reference != nullptr || task.kind == OpKind::BitcastConvert, "{} in a fused group",
                   ir::op_name(task.kind));
      if (any_vector) {
        for (int& arg : task.args) arg = splat(arg);
      }
    }
    return emit(std::move(task), dtype);
  }

  void add_step(const ir::FusedStep& step, std::size_t id) {
    if (step.kind == OpKind::Iota) return;  // a source
    if (step.kind == OpKind::Constant) {
      const auto bytes = std::get<ir::ConstantAttrs>(step.attrs).value.stored_bytes();
      register_of_[id] = constant(step.dtype, bytes.first(ir::dtype_bytes(step.dtype)));
      return;
    }
    FusedTask task;
    task.kind = step.kind;
    task.attrs = step.attrs;
    for (std::uint32_t arg : step.args) task.args.push_back(register_of_[arg]);
    const DType in = reg(task.args[step.kind == OpKind::Select ? 1 : 0]).dtype;
    if (step.kind == OpKind::BitcastConvert) {
      task.form = FusedTask::Form::Copy;
      register_of_[id] = emit(std::move(task), step.dtype);
      return;
    }
    const bool total_order = step.kind == OpKind::Compare &&
                             std::get<ir::CompareAttrs>(step.attrs).type == ir::ComparisonType::TotalOrder;
    if (is_small_float(in) && computed_in_float(step.kind) && !total_order) {
      for (int& arg : task.args) arg = widened(arg);
      const bool keeps = step.dtype == in;
      const int wide = compute(std::move(task), keeps ? DType::F32 : step.dtype);
      register_of_[id] = keeps ? convert(wide, in) : wide;
      return;
    }
    if (step.kind == OpKind::Convert) {
      register_of_[id] = add_convert(std::move(task), in, step.dtype);
      return;
    }
    register_of_[id] = compute(std::move(task), step.dtype);
  }

  /// Conversions of the 16-bit floats go through f32 where that rounds only once.
  int add_convert(FusedTask task, DType in, DType out) {
    const int id = task.args[0];
    if (in == out) return id;
    if (is_small_float(in)) return convert(widened(id), out);
    if (is_small_float(out) && ir::dtype_bytes(in) <= 2) return convert(convert(id, DType::F32), out);
    return compute(std::move(task), out);
  }

  void add_output(std::uint32_t id) {
    int source = register_of_[id];
    load(source);
    const bool computed = reg(source).place == FusedRegister::Place::Temp && reg(source).vector &&
                          reg(source).rate == Rate::Block;
    if (!computed) {
      FusedTask task;
      task.form = reg(source).vector ? FusedTask::Form::Copy : FusedTask::Form::Splat;
      task.args = {source};
      const DType dtype = reg(source).dtype;
      source = emit(std::move(task), dtype);
      reg(source).vector = true;
      program_.tasks.back().rate = reg(source).rate = Rate::Block;
    }
    reg(source).place = FusedRegister::Place::Output;
    reg(source).where = static_cast<std::int64_t>(program_.outputs.size());
    program_.outputs.push_back({source, 0, 0, static_cast<std::int64_t>(ir::dtype_bytes(reg(source).dtype))});
  }

  void sort_tasks() {
    std::stable_sort(program_.tasks.begin(), program_.tasks.end(),
                     [](const FusedTask& a, const FusedTask& b) { return a.rate < b.rate; });
    const auto first_of = [&](Rate rate) {
      return static_cast<std::size_t>(std::find_if(program_.tasks.begin(), program_.tasks.end(),
                                                   [&](const FusedTask& task) { return task.rate >= rate; }) -
                                      program_.tasks.begin());
    };
    program_.row_tasks = first_of(Rate::Row);
    program_.block_tasks = first_of(Rate::Block);
  }

  void find_last_uses() {
    last_use_.assign(program_.registers.size(), 0);
    for (std::size_t t = 0; t < program_.tasks.size(); ++t) {
      for (int arg : program_.tasks[t].args) last_use_[static_cast<std::size_t>(arg)] = t;
      const FusedRegister& result = reg(program_.tasks[t].result);
      if (result.place == FusedRegister::Place::Output) program_.outputs[static_cast<std::size_t>(result.where)].task = t;
    }
    for (auto& input : program_.in_place) input.last_task = last_use_[static_cast<std::size_t>(input.reg)];
  }

  void assign_places() {
    std::int64_t top = 0;
    const auto take = [&](std::int64_t bytes) {
      const std::int64_t at = top;
      top += aligned(bytes);
      return at;
    };
    for (auto& output : program_.outputs) output.spill = take(output.width * program_.block);
    std::map<std::size_t, std::vector<std::int64_t>> free;  // by element width
    std::vector<bool> released(program_.registers.size(), false);
    for (std::size_t t = 0; t < program_.tasks.size(); ++t) {
      const FusedTask& task = program_.tasks[t];
      FusedRegister& result = reg(task.result);
      // A buffer whose last reader is this task may be written by it: loops go index by index. Other forms may not.
      const bool in_place = task.form == FusedTask::Form::Loop;
      const auto release = [&] {
        for (int arg : task.args) {
          const auto a = static_cast<std::size_t>(arg);
          const FusedRegister& r = reg(arg);
          if (r.place != FusedRegister::Place::Temp || r.rate != Rate::Block || !r.vector || released[a]) continue;
          if (last_use_[a] != t) continue;
          released[a] = true;
          free[ir::dtype_bytes(r.dtype)].push_back(r.where);
        }
      };
      if (in_place) release();
      if (result.place == FusedRegister::Place::Temp) {
        const std::size_t width = ir::dtype_bytes(result.dtype);
        auto& pool = free[width];
        if (!result.vector) {
          result.where = take(16);
        } else if (result.rate == Rate::Block && !pool.empty()) {
          result.where = pool.back();
          pool.pop_back();
        } else {
          result.where = take(static_cast<std::int64_t>(width) * program_.block);
        }
      }
      if (!in_place) release();
    }
    program_.workspace = top;
  }

  const ir::FusedExpression& expression_;
  FusedProgram program_;
  std::vector<bool> needed_;         // per register of the expression
  std::vector<int> register_of_;     // register of the expression -> register of the program
  std::vector<int> source_of_;       // register of the expression -> source
  std::map<int, FusedTask> pending_loads_;
  std::map<int, int> splats_, widened_;
  std::vector<std::size_t> last_use_;
};

}  // namespace

FusedProgram compile_fused(const ir::FusedExpression& expression) { return Compiler(expression).compile(); }

}  // namespace rhino::kernels::host
