// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <rhino/ir/builder.hpp>

#include "random.hpp"

namespace rhino::test {

/// A size of a dimension: mostly 1 to 8, often one that divides well.
std::int64_t random_size(Random& random, std::int64_t largest = 8);
ir::Dims random_dims(Random& random, int lowest_rank, int highest_rank, std::int64_t largest = 8);

struct RandomReducer {
  ir::FunctionId function;
  ir::ReducerKind kind;
  ir::DType dtype;
};
RandomReducer random_reducer(ir::Builder& b, Random& random);

// Ops with windows or computed positions, on parameters of the builder's function.
ir::ValueId make_convolution(ir::Builder& b, Random& random);
std::vector<ir::ValueId> make_reduce_window(ir::Builder& b, Random& random);
ir::ValueId make_select_and_scatter(ir::Builder& b, Random& random);
ir::ValueId make_dynamic_slice(ir::Builder& b, Random& random);
ir::ValueId make_dynamic_update_slice(ir::Builder& b, Random& random);
ir::ValueId make_gather(ir::Builder& b, Random& random);
ir::ValueId make_scatter(ir::Builder& b, Random& random);

}  // namespace rhino::test
