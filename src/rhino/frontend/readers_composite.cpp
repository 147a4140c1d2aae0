// SPDX-License-Identifier: Apache-2.0
#include <rhino/frontend/batch_norm.hpp>
#include <rhino/frontend/op_context.hpp>

namespace rhino::frontend {
namespace {

struct BatchNormAttributes {
  double epsilon;
  int feature;
};

BatchNormAttributes batch_norm_attributes(OpContext& context, std::size_t operands) {
  context.expect_operands(operands);
  return {context.number({"epsilon"}), static_cast<int>(context.integer({"feature_index"}))};
}

std::vector<Bound> read_inference(OpContext& context) {
  const auto [epsilon, feature] = batch_norm_attributes(context, 5);
  return results(batch_norm_inference(context.builder, context.operand(0), context.operand(1), context.operand(2),
                                      context.operand(3), context.operand(4), epsilon, feature));
}

std::vector<Bound> read_training(OpContext& context) {
  const auto [epsilon, feature] = batch_norm_attributes(context, 3);
  return results(batch_norm_training(context.builder, context.operand(0), context.operand(1), context.operand(2),
                                     epsilon, feature));
}

std::vector<Bound> read_grad(OpContext& context) {
  const auto [epsilon, feature] = batch_norm_attributes(context, 5);
  return results(batch_norm_grad(context.builder, context.operand(0), context.operand(1), context.operand(2),
                                 context.operand(3), context.operand(4), epsilon, feature));
}

std::vector<Bound> refuse_complex(OpContext& context) {
  context.unsupported("complex numbers are not supported", "write the program with separate real and imaginary parts");
}

std::vector<Bound> read_real(OpContext& context) { return context.operands; }

/// The imaginary part of a real number.
std::vector<Bound> read_imag(OpContext& context) {
  context.expect_operands(1);
  return results(context.builder.full(context.operand_type(0), 0.0));
}

std::vector<Bound> refuse_linear_algebra(OpContext& context) {
  context.unsupported("matrix decompositions and Fourier transforms are not supported",
                      "express the step without them, or compute them before the training");
}

std::vector<Bound> refuse_quantised(OpContext& context) {
  context.unsupported("quantised types are not supported", "export the program before quantisation");
}

}  // namespace

void add_composite_readers(OpReaders& readers) {
  readers["batch_norm_inference"] = read_inference;
  readers["batch_norm_training"] = read_training;
  readers["batch_norm_grad"] = read_grad;
  readers["complex"] = refuse_complex;
  readers["real"] = read_real;
  readers["imag"] = read_imag;
  readers["fft"] = readers["cholesky"] = readers["triangular_solve"] = refuse_linear_algebra;
  readers["uniform_quantize"] = readers["uniform_dequantize"] = refuse_quantised;
}

}  // namespace rhino::frontend
