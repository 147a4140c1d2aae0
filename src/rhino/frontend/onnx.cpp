// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/onnx.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <rhino/base/strings.hpp>
#include <rhino/frontend/import.hpp>
#include <rhino/frontend/onnx_context.hpp>
#include <rhino/frontend/onnx_model.hpp>
#include <rhino/frontend/source.hpp>

namespace rhino::frontend {
namespace {

using ir::Tensor;
using onnx::Node;

constexpr std::int64_t kFirstOpset = 7, kLastOpset = 23;

const onnx::ConverterTable& converters() {
  static const onnx::ConverterTable table = [] {
    onnx::ConverterTable made;
    onnx::add_elementwise_converters(made);
    onnx::add_shape_converters(made);
    onnx::add_index_converters(made);
    onnx::add_contraction_converters(made);
    onnx::add_window_converters(made);
    onnx::add_reduction_converters(made);
    return made;
  }();
  return table;
}

/// Operands that are numbers to compute with, not weights, whatever they are stored as.
bool is_number_operand(const std::string& op, std::size_t input) {
  static const std::map<std::string_view, std::vector<std::size_t>> places = {
      {"Clip", {1, 2}}, {"Dropout", {1}},     {"OneHot", {1, 2}}, {"Pad", {2}},
      {"Pow", {1}},     {"Range", {0, 1, 2}}, {"Resize", {1, 2}}, {"Upsample", {1}},
  };
  const auto place = places.find(op);
  return place != places.end() && std::ranges::count(place->second, input) > 0;
}

class Conversion {
 public:
  Conversion(const onnx::Model& model, const OnnxOptions& options, OnnxTarget& target)
      : model_(model), options_(options), target_(target), values_(target, options_.evaluate) {}

  OnnxResult run() {
    check_support();
    declare_inputs();
    declare_initializers();
    for (const Node& node : model_.nodes)
      convert(node);
    OnnxResult result{{}, model_.producer};
    if (model_.outputs.empty()) fail("the graph has no outputs");
    for (const std::string& name : model_.outputs) {
      const Tensor* value = values_.find(name);
      if (!value) fail("no node makes the output " + frontend::in_quotes(name));
      result.outputs.emplace_back(path_of(name), *value);
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    RHINO_FAIL(ImportError, "{}: {}", options_.file, message);
  }

  void check_support() const {
    if (model_.opset < kFirstOpset || model_.opset > kLastOpset)
      RHINO_FAIL(UnsupportedError,
                 "{}: opset {} of the standard ops; {} to {} are read, so export with opset_version=17", options_.file,
                 model_.opset, kFirstOpset, kLastOpset);
    std::map<std::string, int> missing;
    for (const Node& node : model_.nodes)
      if (!converters().contains(node.op)) ++missing[node.op];
    if (missing.empty()) return;
    std::vector<std::string> list;
    for (const auto& [op, count] : missing)
      list.push_back(fmt::format("{} ({}x)", printable(op), count));
    RHINO_FAIL(UnsupportedError, "{}: ops that are not supported: {}", options_.file, fmt::join(list, ", "));
  }

  /// A name of the file fit for a message.
  static std::string printable(const std::string& name) {
    const std::string text = frontend::in_quotes(name);
    return text.substr(1, text.size() - 2);
  }

  /// A path of a model file: parts between slashes, of letters, digits and the like; unique, and no
  /// folder of others.
  std::string path_of(const std::string& name) {
    std::string path;
    for (const char letter : name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '-';
      if (plain)
        path += letter;
      else if (letter == '.' || letter == '/')
        path += path.empty() || path.back() == '/' ? "" : "/";
      else if (!path.empty() && path.back() != '_' && path.back() != '/')
        path += '_';
    }
    while (!path.empty() && path.back() == '/')
      path.pop_back();
    if (path.empty()) path = "unnamed";
    if (std::ranges::any_of(folders_around(path), [&](const auto& folder) { return paths_.contains(folder); }))
      std::ranges::replace(path, '/', '_');
    std::string unique = path;
    for (int& number = copies_[path]; paths_.contains(unique) || folders_.contains(unique);)
      unique = fmt::format("{}_{}", path, ++number + 1);
    for (const std::string& folder : folders_around(unique))
      folders_.insert(folder);
    paths_.insert(unique);
    return unique;
  }

  static std::vector<std::string> folders_around(const std::string& path) {
    std::vector<std::string> folders;
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      folders.push_back(path.substr(0, slash));
    return folders;
  }

  void declare_inputs() {
    std::vector<std::string> open;
    std::set<std::string> used;
    std::vector<ir::TensorType> types;
    for (const onnx::Input& input : model_.inputs) {
      ir::TensorType& type = types.emplace_back(ir::TensorType{input.dtype, {}});
      for (std::size_t i = 0; i < input.dims.size(); ++i)
        type.dims.push_back(size_of(input, i, open, used));
    }
    if (!open.empty())
      fail(fmt::format("dimensions without a size: {}; give --dims NAME=SIZE{}", fmt::join(open, ", "),
                       std::ranges::any_of(open, [](const std::string& what) { return what.starts_with("batch"); })
                           ? " or --batch SIZE"
                           : ""));
    for (const auto& [name, size] : options_.dimensions)
      if (!used.contains(name)) refuse_dimension(name);
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Tensor value = target_.input(path_of(model_.inputs[i].name), types[i]);
      define(model_.inputs[i].name, value, "input");
    }
  }

  /// Size of one dimension of an input; where nothing tells it, its name goes to `open`.
  std::int64_t size_of(const onnx::Input& input, std::size_t dimension, std::vector<std::string>& open,
                       std::set<std::string>& used) const {
    if (const auto* size = std::get_if<std::int64_t>(&input.dims[dimension])) return *size;
    std::string name = std::get<std::string>(input.dims[dimension]);
    std::vector<std::string> candidates;
    if (!name.empty()) candidates.push_back(name);
    if (dimension == 0) candidates.push_back("batch");
    candidates.push_back(fmt::format("{}.{}", input.name, dimension));
    for (const std::string& candidate : candidates) {
      const auto place = options_.dimensions.find(candidate);
      if (place == options_.dimensions.end()) continue;
      used.insert(candidate);
      return place->second;
    }
    const std::string shown = dimension == 0 && name.empty() ? "batch" : printable(candidates.front());
    if (std::ranges::find(open, shown) == open.end()) open.push_back(shown);
    return 1;
  }

  [[noreturn]] void refuse_dimension(const std::string& name) const {
    std::vector<std::string> names;
    for (const onnx::Input& input : model_.inputs)
      for (const onnx::Dimension& dim : input.dims)
        if (const auto* text = std::get_if<std::string>(&dim); text && !text->empty()) names.push_back(*text);
    RHINO_FAIL(UsageError, "{}: no input has an open dimension '{}'{}", options_.file, name, did_you_mean(name, names));
  }

  void define(const std::string& name, const Tensor& value, const char* what) {
    if (!values_.define(name, value)) fail(fmt::format("{} {} is defined twice", what, frontend::in_quotes(name)));
  }

  /// PyTorch numbers what it transposed for a product ("onnx::MatMul_1716"): such a weight is named by the module of
  /// its node, "/encoder/dense/MatMul" giving "/encoder/dense/weight".
  static std::string telling_name(const std::string& name, const Node& user) {
    const std::size_t slash = user.name.rfind('/');
    if (!name.starts_with("onnx::") || slash == std::string::npos || slash == 0) return name;
    return user.name.substr(0, slash) + "/weight";
  }

  /// Weights of floats become state, the others constants; what nothing uses is left out.
  void declare_initializers() {
    std::set<std::string, std::less<>> used(model_.outputs.begin(), model_.outputs.end()), numbers, statistics;
    std::map<std::string, const Node*> users;
    for (const Node& node : model_.nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        used.insert(node.inputs[i]);
        users.try_emplace(node.inputs[i], &node);
        if (is_number_operand(node.op, i)) numbers.insert(node.inputs[i]);
        if (node.op == "BatchNormalization" && i >= 3) statistics.insert(node.inputs[i]);
      }
    }
    for (const auto& [name, value] : model_.initializers) {
      if (!used.contains(name)) continue;
      const ir::TensorType& type = value.type();
      if (!ir::is_float(type.dtype) || type.rank() == 0 || type.elements() == 0 || numbers.contains(name)) {
        define(name, target_.graph().constant(value), "initializer");
        continue;
      }
      const auto user = users.find(name);
      const std::string known_as = user == users.end() ? name : telling_name(name, *user->second);
      OnnxWeight weight{name, path_of(known_as), ir::StateKind::Param, value};
      if (statistics.contains(name)) weight.kind = ir::StateKind::Statistics;
      define(name, target_.weight(weight), "initializer");
      weight.value = {};
      weights_.emplace(name, std::move(weight));
    }
    values_.evaluate_new_ops();
  }

  void convert(const Node& node) {
    const std::string where = fmt::format("{}: {} {}", options_.file, node.op, frontend::in_quotes(node.name));
    const auto scope = target_.graph().scope(printable(node.name));
    try {
      onnx::Context context(node, model_.opset, values_, weights_, target_);
      converters().at(node.op)(context);
      values_.evaluate_new_ops();
    } catch (const UnsupportedError& error) {
      RHINO_FAIL(UnsupportedError, "{}: {}", where, error.what());
    } catch (const InputError& error) {
      RHINO_FAIL(ImportError, "{}: {}", where, error.what());
    }
  }

  const onnx::Model& model_;
  const OnnxOptions& options_;
  OnnxTarget& target_;
  onnx::Values values_;
  std::map<std::string, OnnxWeight> weights_;  ///< by name, without their values
  std::set<std::string> paths_, folders_;      ///< that are taken; none is both
  std::map<std::string, int> copies_;          ///< names that became a path which was taken
};

}  // namespace

bool looks_like_onnx(std::string_view bytes) {
  // Field 1 of a ModelProto, its IR version, is a small number, and writers put it first.
  return bytes.size() > 2 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 32;
}

OnnxResult build_onnx(std::string_view bytes, const OnnxOptions& options, OnnxTarget& target) {
  const onnx::Model model = onnx::read_model(bytes, options.file, options.folder);
  return Conversion(model, options, target).run();
}

}  // namespace rhino::frontend
