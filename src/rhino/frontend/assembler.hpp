// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <rhino/frontend/import.hpp>
#include <rhino/frontend/source.hpp>
#include <rhino/frontend/syntax.hpp>
#include <rhino/ir/builder.hpp>
#include <rhino/ir/program.hpp>

namespace rhino::frontend {

/// What a name of the text stands for: one value, or a tuple of such.
struct Bound {
  ir::ValueId value;
  bool is_tuple = false;
  std::vector<Bound> elements;

  bool present() const { return is_tuple || value.valid(); }
};

/// Appends the values of a bound name, tuples taken apart.
void flatten(const Bound& bound, std::vector<ir::ValueId>& values);

/// What happens to a value that a region uses of its surroundings.
enum class CapturePolicy : std::uint8_t {
  AsParameter,  ///< it becomes an additional parameter of the region
  ByCopy,       ///< the constants that it is computed from are copied into the region; anything else is an error
};

/// Values of the surroundings that the regions of one op use, in order of first use.
struct Captures {
  std::vector<ir::ValueId> outer;
};

/// The names visible in one function or region.
struct Scope {
  Scope* parent = nullptr;  ///< nullptr for a function
  ir::FunctionId function;
  CapturePolicy policy = CapturePolicy::AsParameter;
  Captures* captures = nullptr;
  std::vector<ir::ValueId> captured_params;  ///< of `function`, one per entry of captures->outer seen so far
  std::unordered_map<std::string_view, std::vector<Bound>> names;
};

/// A constant whose value the text does not hold and that therefore becomes a parameter.
struct ElidedConstant {
  std::string_view name;
  ir::TensorType type;
};

/// Gives a SyntaxModule its meaning: resolves names, builds the functions with checked ops, makes captures explicit.
class Assembler {
 public:
  Assembler(const Source& source, const ImportOptions& options, SyntaxModule module)
      : source_(source), options_(options), module_(std::move(module)) {}

  ir::Program run();

  // For the op readers (OpContext).
  const Source& source() const { return source_; }
  const ImportOptions& options() const { return options_; }
  SyntaxModule& module() { return module_; }
  ir::Program& program() { return program_; }

  /// Builds a region as a function of its own. Results that its terminator returns are its results.
  Scope lower_region(Scope& parent, const SyntaxRegion& region, CapturePolicy policy, Captures* captures,
                     std::string_view purpose);
  /// Gives the function of a scope parameters for all captures, also those that only its sibling regions use.
  void complete_captures(Scope& scope);
  /// The function that a symbol names, with what its calls must pass in addition to the visible arguments.
  ir::FunctionId callee(std::string_view name, const SyntaxOp& op);
  const std::vector<ElidedConstant>& elided_constants_of(ir::FunctionId function) const;
  /// The value of an elided constant, here: a parameter of the enclosing function, captured into this scope.
  Bound elided_constant(Scope& scope, std::string_view name, const ir::TensorType& type, const SyntaxOp& op);
  Bound resolve(Scope& scope, const OperandUse& use, const SyntaxOp& op);
  ir::FunctionId new_function(std::string_view purpose);
  std::string location_name(const SyntaxLocation& location) const;

 private:
  struct FunctionState {
    ir::FunctionId id;
    enum class Progress : std::uint8_t { Untouched, Waiting, Done } progress = Progress::Untouched;
    std::vector<ElidedConstant> elided;
  };

  void declare_functions();
  void lower_functions();
  void lower_function(std::size_t index);
  void lower_ops(Scope& scope, const SyntaxRegion& region, std::string_view subject);
  void lower_op(Scope& scope, const SyntaxOp& op);
  void lower_return(Scope& scope, const SyntaxOp& op);
  void check_operand_types(const Scope& scope, const SyntaxOp& op, const std::vector<Bound>& operands) const;
  void bind_results(Scope& scope, const SyntaxOp& op, std::vector<Bound> results);
  void bind_param(Scope& scope, const SyntaxParam& param);
  Bound add_params(ir::FunctionId function, const SyntaxType& type);
  bool matches(ir::FunctionId function, const Bound& bound, const SyntaxType& type) const;
  void note_params(const SyntaxFunction& syntax, ir::FunctionId id, std::span<const std::size_t> counts);
  void choose_entry();

  Bound capture(Scope& scope, const Bound& bound, const OperandUse& use, const SyntaxOp& op);
  ir::ValueId capture_value(Scope& scope, ir::ValueId outer, const OperandUse& use, const SyntaxOp& op);
  ir::ValueId copy_into(Scope& scope, ir::ValueId outer, int& budget, const OperandUse& use, const SyntaxOp& op);

  const Source& source_;
  const ImportOptions& options_;
  SyntaxModule module_;
  ir::Program program_;
  std::unordered_map<std::string_view, std::size_t> function_index_;
  std::vector<FunctionState> states_;
  std::deque<std::string> elided_names_;
  std::size_t current_function_ = 0;
  std::size_t region_count_ = 0;
};

}  // namespace rhino::frontend
