// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <rhino/frontend/onnx_context.hpp>

namespace rhino::frontend::onnx {
namespace {

Dims leading(const Tensor& x) {
  Dims dims = x.dims();
  dims.resize(dims.size() - 2);
  return dims;
}

/// A stack of matrices spread over the leading dimensions `dims`.
Tensor spread(Context& c, const Tensor& x, Dims dims) {
  dims.insert(dims.end(), {x.dim(-2), x.dim(-1)});
  return dims == x.dims() ? x : c.g.broadcast(x, std::move(dims));
}

Dims common_leading(Context& c, const Tensor& a, const Tensor& b) {
  const Dims left = leading(a), right = leading(b);
  Dims dims(std::max(left.size(), right.size()), 1);
  for (const Dims* part : {&left, &right}) {
    for (std::size_t i = 0; i < part->size(); ++i) {
      std::int64_t& size = dims[dims.size() - part->size() + i];
      if (size != 1 && (*part)[i] != 1 && size != (*part)[i])
        c.fail(fmt::format("its operands {} and {} do not fit", ir::to_string(a.type()), ir::to_string(b.type())));
      if ((*part)[i] != 1) size = (*part)[i];
    }
  }
  c.check_dims(dims);
  return dims;
}

void matmul(Context& c) {
  Tensor a = c.in(0), b = c.in(1);
  if (a.rank() == 0 || b.rank() == 0) c.fail("an operand is a scalar");
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = c.g.expand(a, 0);
  if (column) b = c.g.expand(b, 1);
  Tensor result;
  if (b.rank() == 2) {
    result = c.g.dot(a, b);
  } else {
    const Dims dims = common_leading(c, a, b);
    a = spread(c, a, dims);
    b = spread(c, b, dims);
    ir::DotGeneralAttrs attrs;
    for (int i = 0; i < a.rank() - 2; ++i) {
      attrs.lhs_batch.push_back(i);
      attrs.rhs_batch.push_back(i);
    }
    attrs.lhs_contracting = {a.rank() - 1};
    attrs.rhs_contracting = {b.rank() - 2};
    attrs.result_dtype = a.dtype();
    result = c.g.add(OpKind::DotGeneral, {a, b}, std::move(attrs));
  }
  if (!row && !column) return c.out(result);
  Dims dims = result.dims();
  if (column) dims.pop_back();
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  c.out(c.g.reshape(result, std::move(dims)));
}

void gemm(Context& c) {
  const Tensor a = c.in(0), b = c.in(1);
  if (a.rank() != 2 || b.rank() != 2) c.fail("its operands are no matrices");
  ir::DotGeneralAttrs attrs;
  attrs.lhs_contracting = {c.integer("transA", 0) != 0 ? 0 : 1};
  attrs.rhs_contracting = {c.integer("transB", 0) != 0 ? 1 : 0};
  attrs.result_dtype = a.dtype();
  Tensor result = c.g.add(OpKind::DotGeneral, {a, b}, std::move(attrs));
  const double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  if (alpha != 1) result = result * alpha;
  if (c.has(2) && beta != 0) result = result + (beta == 1 ? c.in(2) : c.in(2) * beta);
  c.out(result);
}

/// One operand: sums and a transposition.
Tensor einsum_of_one(Context& c, const std::string& from, const std::string& to, const Tensor& x) {
  if (std::ssize(from) != x.rank() || std::set(from.begin(), from.end()).size() != from.size() ||
      std::set(to.begin(), to.end()).size() != to.size())
    c.unsupported(fmt::format("the equation {}->{}", from, to));
  std::string left;
  std::vector<int> summed, permutation;
  for (int i = 0; i < x.rank(); ++i) {
    const char letter = from[static_cast<std::size_t>(i)];
    if (to.find(letter) == std::string::npos)
      summed.push_back(i);
    else
      left += letter;
  }
  for (const char letter : to) {
    const std::size_t place = left.find(letter);
    if (place == std::string::npos) c.fail(fmt::format("its result has a letter '{}' that no operand has", letter));
    permutation.push_back(static_cast<int>(place));
  }
  return c.g.transpose(summed.empty() ? x : c.g.sum(x, summed), std::move(permutation));
}

void einsum(Context& c) {
  std::string equation = c.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos || c.inputs() > 2)
    c.unsupported("equation " + equation);
  if (c.inputs() == 2) return c.out(c.g.einsum(equation, c.in(0), c.in(1)));
  c.out(einsum_of_one(c, equation.substr(0, arrow), equation.substr(arrow + 2), c.in(0)));
}

}  // namespace

void add_contraction_converters(ConverterTable& table) {
  table.insert({
      {"Einsum", einsum},
      {"Gemm", gemm},
      {"MatMul", matmul},
  });
}

}  // namespace rhino::frontend::onnx
