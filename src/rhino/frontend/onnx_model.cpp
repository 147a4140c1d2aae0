// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/onnx_model.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <rhino/base/math.hpp>
#include <rhino/frontend/import.hpp>
#include <rhino/frontend/source.hpp>

#include "onnx_schema.pb.h"

namespace rhino::frontend::onnx {
namespace {

using ir::DType;
using ir::Literal;
using ir::TensorType;

/// Most bytes that one tensor may claim; far above what a file can hold, far below where sums overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

class Reader {
 public:
  Reader(const std::string& file, const std::filesystem::path& folder) : file_(file), folder_(folder) {}

  Model read(std::string_view bytes) {
    rhino_onnx::Model proto;
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
      RHINO_FAIL(ImportError, "{}: this is no ONNX model, or a part of one: the protobuf message is damaged", file_);
    if (!proto.has_graph()) RHINO_FAIL(ImportError, "{}: this is no ONNX model: it has no graph", file_);
    Model model;
    for (const auto& set : proto.opset_import())
      if (standard(set.domain())) model.opset = set.version();
    model.producer = proto.producer_name();
    if (!proto.producer_version().empty()) model.producer += " " + proto.producer_version();
    read_graph(proto.graph(), model);
    return model;
  }

 private:
  static bool standard(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

  void read_graph(const rhino_onnx::Graph& graph, Model& model) {
    if (graph.sparse_initializer_size() > 0)
      RHINO_FAIL(UnsupportedError, "{}: sparse initializers are not supported; export dense ones", file_);
    std::set<std::string> known;
    for (const auto& tensor : graph.initializer()) {
      if (tensor.name().empty() || !known.insert(tensor.name()).second)
        RHINO_FAIL(ImportError, "{}: two initializers are named {}", file_, frontend::in_quotes(tensor.name()));
      model.initializers.emplace_back(tensor.name(),
                                      read_tensor(tensor, "initializer " + frontend::in_quotes(tensor.name())));
    }
    for (const auto& input : graph.input())
      if (!known.contains(input.name())) model.inputs.push_back(read_input(input));
    for (const auto& output : graph.output())
      model.outputs.push_back(output.name());
    for (const auto& node : graph.node())
      model.nodes.push_back(read_node(node, model.nodes.size()));
  }

  Input read_input(const rhino_onnx::ValueInfo& info) {
    const std::string subject = "input " + frontend::in_quotes(info.name());
    const auto& type = info.type().tensor_type();
    if (info.name().empty() || !info.type().has_tensor_type() || !type.has_shape())
      RHINO_FAIL(UnsupportedError, "{}: {} is no tensor of a known rank; export the model with example inputs", file_,
                 subject);
    Input input{info.name(), dtype(type.elem_type(), subject), {}};
    for (const auto& dim : type.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() < 1)
        RHINO_FAIL(ImportError, "{}: {} has a dimension of size {}", file_, subject, dim.dim_value());
      if (dim.has_dim_value())
        input.dims.emplace_back(dim.dim_value());
      else
        input.dims.emplace_back(dim.dim_param());
    }
    return input;
  }

  Node read_node(const rhino_onnx::Node& proto, std::size_t position) {
    Node node;
    node.op = standard(proto.domain()) ? proto.op_type() : proto.domain() + "." + proto.op_type();
    node.name = proto.name().empty() ? fmt::format("node {}", position) : proto.name();
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (const auto& attribute : proto.attribute()) {
      if (!attribute.ref_attr_name().empty()) continue;
      node.attributes[attribute.name()] = read_attribute(attribute, node);
    }
    return node;
  }

  Attribute read_attribute(const rhino_onnx::Attribute& proto, const Node& node) {
    Attribute result;
    // Old exporters leave the type out: then the field that is there tells.
    int type = proto.type();
    if (type == 0) {
      type = proto.has_f()             ? 1
             : proto.has_i()           ? 2
             : proto.has_s()           ? 3
             : proto.has_t()           ? 4
             : proto.floats_size() > 0 ? 6
                                       : 7;
    }
    using Kind = Attribute::Kind;
    switch (type) {
      case 1:
        result.kind = Kind::Float;
        result.number = proto.f();
        break;
      case 2:
        result.kind = Kind::Int;
        result.integer = proto.i();
        break;
      case 3:
        result.kind = Kind::String;
        result.text = proto.s();
        break;
      case 4:
        result.kind = Kind::Tensor;
        result.tensor = read_tensor(
            proto.t(), fmt::format("attribute {} of {}", frontend::in_quotes(proto.name()), frontend::in_quotes(node.name)));
        break;
      case 6:
        result.kind = Kind::Floats;
        result.numbers.assign(proto.floats().begin(), proto.floats().end());
        break;
      case 7:
        result.kind = Kind::Ints;
        result.integers.assign(proto.ints().begin(), proto.ints().end());
        break;
      default:
        break;
    }
    return result;
  }

  DType dtype(std::int64_t number, const std::string& subject) const {
    const std::optional<DType> type = dtype_from_number(number);
    if (!type)
      RHINO_FAIL(UnsupportedError, "{}: {} has element type number {} of ONNX, which Rhino does not have", file_,
                 subject, number);
    return *type;
  }

  Literal read_tensor(const rhino_onnx::Tensor& proto, const std::string& subject) {
    TensorType type{dtype(proto.data_type(), subject), {proto.dims().begin(), proto.dims().end()}};
    std::int64_t bytes = static_cast<std::int64_t>(ir::dtype_bytes(type.dtype));
    for (const std::int64_t size : type.dims) {
      if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes) || bytes > kMostBytes)
        RHINO_FAIL(ImportError, "{}: {} has the shape {}", file_, subject, ir::to_string(type.dims));
    }
    if (proto.has_segment()) RHINO_FAIL(UnsupportedError, "{}: {} is stored in segments", file_, subject);
    std::vector<std::byte> data;
    if (proto.data_location() == 1)
      data = read_external(proto, bytes, subject);
    else if (proto.has_raw_data())
      data = bytes_of(proto.raw_data().data(), proto.raw_data().size());
    else
      data = read_fields(proto, type.dtype);
    if (static_cast<std::int64_t>(data.size()) != bytes)
      RHINO_FAIL(ImportError, "{}: {} is a {} of {} bytes, but {} are stored", file_, subject, ir::to_string(type),
                 bytes, data.size());
    if (type.dtype == DType::I1)
      for (std::byte& element : data)
        element = std::byte{element != std::byte{0}};
    return {std::move(type), std::move(data)};
  }

  static std::vector<std::byte> bytes_of(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    return {begin, begin + size};
  }

  /// Elements of a repeated field, each stored as a T.
  template <class T, class Field>
  static std::vector<std::byte> elements_of(const Field& field) {
    std::vector<std::byte> result(static_cast<std::size_t>(field.size()) * sizeof(T));
    std::byte* at = result.data();
    for (const auto value : field) {
      const auto element = static_cast<T>(value);
      std::memcpy(at, &element, sizeof(T));
      at += sizeof(T);
    }
    return result;
  }

  static std::vector<std::byte> read_fields(const rhino_onnx::Tensor& proto, DType dtype) {
    switch (dtype) {
      case DType::F32:
        return elements_of<float>(proto.float_data());
      case DType::F64:
        return elements_of<double>(proto.double_data());
      case DType::I64:
        return elements_of<std::int64_t>(proto.int64_data());
      case DType::U64:
        return elements_of<std::uint64_t>(proto.uint64_data());
      case DType::U32:
        return elements_of<std::uint32_t>(proto.uint64_data());
      case DType::I32:
        return elements_of<std::int32_t>(proto.int32_data());
      case DType::I16:
      case DType::U16:
      case DType::F16:
      case DType::BF16:
        return elements_of<std::uint16_t>(proto.int32_data());
      case DType::I1:
      case DType::I8:
      case DType::U8:
        return elements_of<std::uint8_t>(proto.int32_data());
    }
    return {};
  }

  std::vector<std::byte> read_external(const rhino_onnx::Tensor& proto, std::int64_t bytes,
                                       const std::string& subject) {
    std::string location;
    std::int64_t offset = 0, length = bytes;
    for (const auto& entry : proto.external_data()) {
      if (entry.key() == "location") location = entry.value();
      std::int64_t* number = entry.key() == "offset" ? &offset : entry.key() == "length" ? &length : nullptr;
      if (!number) continue;
      const auto [end, error] =
          std::from_chars(entry.value().data(), entry.value().data() + entry.value().size(), *number);
      if (error != std::errc{} || end != entry.value().data() + entry.value().size() || *number < 0)
        RHINO_FAIL(ImportError, "{}: {} has an external {} of {}", file_, subject, entry.key(),
                   frontend::in_quotes(entry.value()));
    }
    if (length != bytes)
      RHINO_FAIL(ImportError, "{}: {} takes {} bytes, but its external data has {}", file_, subject, bytes, length);
    const std::filesystem::path path = external_path(location, subject);
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (error ||
        offset > static_cast<std::int64_t>(std::min<std::uintmax_t>(size, std::numeric_limits<std::int64_t>::max())) -
                     length)
      RHINO_FAIL(ImportError, "{}: {} ends behind the end of its external file {}", file_, subject,
                 frontend::in_quotes(location));
    std::vector<std::byte> data(static_cast<std::size_t>(bytes));
    std::ifstream stream(path, std::ios::binary);
    stream.seekg(offset);
    stream.read(reinterpret_cast<char*>(data.data()), bytes);
    if (!stream) RHINO_FAIL(EnvironmentError, "cannot read '{}'", path.string());
    return data;
  }

  /// The file beside the model that a location names; it must be a regular file inside of the model's folder, links
  /// followed.
  std::filesystem::path external_path(const std::string& location, const std::string& subject) const {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path root = fs::canonical(folder_.empty() ? fs::path(".") : folder_, error);
    const fs::path path = error || location.empty() || location.find('\0') != std::string::npos
                              ? fs::path()
                              : fs::canonical(root / location, error);
    if (error || path.empty())
      RHINO_FAIL(ImportError, "{}: the external file {} of {} is not there", file_, frontend::in_quotes(location),
                 subject);
    const auto [in_root, in_path] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
    if (in_root != root.end() || fs::path(location).is_absolute() || !fs::is_regular_file(path, error))
      RHINO_FAIL(ImportError, "{}: the external file {} of {} is no file inside of the model's folder", file_,
                 frontend::in_quotes(location), subject);
    return path;
  }

  const std::string& file_;
  const std::filesystem::path& folder_;
};

}  // namespace

std::optional<DType> dtype_from_number(std::int64_t number) {
  switch (number) {
    case 1:
      return DType::F32;
    case 2:
      return DType::U8;
    case 3:
      return DType::I8;
    case 4:
      return DType::U16;
    case 5:
      return DType::I16;
    case 6:
      return DType::I32;
    case 7:
      return DType::I64;
    case 9:
      return DType::I1;
    case 10:
      return DType::F16;
    case 11:
      return DType::F64;
    case 12:
      return DType::U32;
    case 13:
      return DType::U64;
    case 16:
      return DType::BF16;
    default:
      return std::nullopt;
  }
}

Model read_model(std::string_view bytes, const std::string& file, const std::filesystem::path& folder) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    RHINO_FAIL(ImportError, "{}: larger than a protobuf message can be (2 GiB)", file);
  return Reader(file, folder).read(bytes);
}

}  // namespace rhino::frontend::onnx
