"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {}, {}], function_type = (tensor<i32>, tensor<5x4xf32>, tensor<2x2x2x3xf32>, tensor<3xi32>, tensor<2x4x3x2xf32>) -> (tensor<i32>, tensor<5x4xf32>, tensor<2x2x2x3xf32>, tensor<3xui32>, tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>), res_attrs = [{jax.result_info = "result[0]['step']"}, {jax.result_info = "result[0]['w']['e']"}, {jax.result_info = "result[0]['w']['k']"}, {jax.result_info = "result[1]['bits']"}, {jax.result_info = "result[1]['loss']"}, {jax.result_info = "result[1]['order']"}, {jax.result_info = "result[1]['scale']"}, {jax.result_info = "result[1]['table']"}, {jax.result_info = "result[1]['where']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg53: tensor<i32>, %arg54: tensor<5x4xf32>, %arg55: tensor<2x2x2x3xf32>, %arg56: tensor<3xi32>, %arg57: tensor<2x4x3x2xf32>):
    %118 = "stablehlo.constant"() <{value = dense<[[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]]> : tensor<2x6xi32>}> : () -> tensor<2x6xi32>
    %119 = "stablehlo.convolution"(%arg57, %arg55) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}> : (tensor<2x4x3x2xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x4x3xf32>
    %120 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %122 = "stablehlo.reduce_window"(%119, %121) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [0, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%arg98: tensor<f32>, %arg99: tensor<f32>):
      %285 = "stablehlo.maximum"(%arg98, %arg99) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%285) : (tensor<f32>) -> ()
    }) : (tensor<2x2x4x3xf32>, tensor<f32>) -> tensor<2x2x2x3xf32>
    %123 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %124 = "stablehlo.broadcast_in_dim"(%123) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %125 = "stablehlo.compare"(%arg56, %124) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %126 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %127 = "stablehlo.broadcast_in_dim"(%126) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %128 = "stablehlo.add"(%arg56, %127) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %129 = "stablehlo.select"(%125, %128, %arg56) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xi32>) -> tensor<3x1xi32>
    %131 = "stablehlo.gather"(%arg54, %130) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
    %132 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %133 = "stablehlo.broadcast_in_dim"(%132) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %134 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.broadcast_in_dim"(%134) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %136 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %138 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %140 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %141:6 = "stablehlo.while"(%131, %140, %133, %135, %137, %139) ({
    ^bb0(%arg92: tensor<3x4xf32>, %arg93: tensor<i32>, %arg94: tensor<4xf32>, %arg95: tensor<3xf32>, %arg96: tensor<3x4xf32>, %arg97: tensor<3x4xf32>):
      %283 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %284 = "stablehlo.compare"(%arg93, %283) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%284) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg86: tensor<3x4xf32>, %arg87: tensor<i32>, %arg88: tensor<4xf32>, %arg89: tensor<3xf32>, %arg90: tensor<3x4xf32>, %arg91: tensor<3x4xf32>):
      %276 = "func.call"(%arg86, %arg87) <{callee = @dynamic_index_in_dim}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
      %277:4 = "func.call"(%arg88, %276) <{callee = @closed_call}> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>)
      %278 = "func.call"(%arg89, %277#1, %arg87) <{callee = @dynamic_update_index_in_dim}> : (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>
      %279 = "func.call"(%arg90, %277#2, %arg87) <{callee = @dynamic_update_index_in_dim_0}> : (tensor<3x4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<3x4xf32>
      %280 = "func.call"(%arg91, %277#3, %arg87) <{callee = @dynamic_update_index_in_dim_0}> : (tensor<3x4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<3x4xf32>
      %281 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %282 = "stablehlo.add"(%arg87, %281) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg86, %282, %277#0, %278, %279, %280) : (tensor<3x4xf32>, tensor<i32>, tensor<4xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    }) : (tensor<3x4xf32>, tensor<i32>, tensor<4xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<i32>, tensor<4xf32>, tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
    %142 = "stablehlo.multiply"(%122, %122) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %143 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %144 = "stablehlo.broadcast_in_dim"(%143) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x2x3xf32>
    %145 = "stablehlo.multiply"(%144, %122) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %146 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %147 = "stablehlo.reduce"(%142, %146) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
    ^bb0(%arg84: tensor<f32>, %arg85: tensor<f32>):
      %275 = "stablehlo.add"(%arg84, %arg85) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%275) : (tensor<f32>) -> ()
    }) : (tensor<2x2x2x3xf32>, tensor<f32>) -> tensor<f32>
    %148 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %149 = "stablehlo.reduce"(%141#3, %148) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg82: tensor<f32>, %arg83: tensor<f32>):
      %274 = "stablehlo.add"(%arg82, %arg83) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%274) : (tensor<f32>) -> ()
    }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %150 = "stablehlo.add"(%147, %149) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %151 = "stablehlo.dot_general"(%141#2, %141#2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %152 = "stablehlo.add"(%150, %151) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %153 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.dot_general"(%153, %141#2) <{dot_dimension_numbers = #stablehlo.dot<>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %155 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %156 = "stablehlo.dot_general"(%155, %141#2) <{dot_dimension_numbers = #stablehlo.dot<>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %157 = "stablehlo.add"(%154, %156) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %158 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %159 = "stablehlo.broadcast_in_dim"(%158) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %160 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %161 = "stablehlo.broadcast_in_dim"(%160) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x2x3xf32>
    %162 = "stablehlo.multiply"(%161, %145) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %163 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %165 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %166:6 = "stablehlo.while"(%159, %141#4, %141#5, %165, %157, %164) ({
    ^bb0(%arg76: tensor<3xf32>, %arg77: tensor<3x4xf32>, %arg78: tensor<3x4xf32>, %arg79: tensor<i32>, %arg80: tensor<4xf32>, %arg81: tensor<3x4xf32>):
      %272 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %273 = "stablehlo.compare"(%arg79, %272) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%273) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg70: tensor<3xf32>, %arg71: tensor<3x4xf32>, %arg72: tensor<3x4xf32>, %arg73: tensor<i32>, %arg74: tensor<4xf32>, %arg75: tensor<3x4xf32>):
      %261 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %262 = "stablehlo.subtract"(%261, %arg73) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %263 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %264 = "stablehlo.subtract"(%262, %263) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %265 = "func.call"(%arg70, %264) <{callee = @dynamic_index_in_dim_1}> : (tensor<3xf32>, tensor<i32>) -> tensor<f32>
      %266 = "func.call"(%arg71, %264) <{callee = @dynamic_index_in_dim}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
      %267 = "func.call"(%arg72, %264) <{callee = @dynamic_index_in_dim}> : (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>
      %268:2 = "func.call"(%arg74, %265, %266, %267) <{callee = @closed_call_2}> : (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %269 = "func.call"(%arg75, %268#1, %264) <{callee = @dynamic_update_index_in_dim_0}> : (tensor<3x4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<3x4xf32>
      %270 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %271 = "stablehlo.add"(%arg73, %270) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg70, %arg71, %arg72, %271, %268#0, %269) : (tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<i32>, tensor<4xf32>, tensor<3x4xf32>) -> ()
    }) : (tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<i32>, tensor<4xf32>, tensor<3x4xf32>) -> (tensor<3xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<i32>, tensor<4xf32>, tensor<3x4xf32>)
    %167 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %168 = "stablehlo.broadcast_in_dim"(%167) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5x4xf32>
    %169 = "stablehlo.scatter"(%168, %130, %166#5) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg68: tensor<f32>, %arg69: tensor<f32>):
      %260 = "stablehlo.add"(%arg68, %arg69) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%260) : (tensor<f32>) -> ()
    }) : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    %170 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %171 = "stablehlo.pad"(%119, %170) <{edge_padding_high = array<i64: 0, 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<2x2x4x3xf32>, tensor<f32>) -> tensor<2x3x4x3xf32>
    %172 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %173 = "stablehlo.select_and_scatter"(%171, %162, %172) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%arg66: tensor<f32>, %arg67: tensor<f32>):
      %259 = "stablehlo.compare"(%arg66, %arg67) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%259) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg64: tensor<f32>, %arg65: tensor<f32>):
      %258 = "stablehlo.add"(%arg64, %arg65) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%258) : (tensor<f32>) -> ()
    }) : (tensor<2x3x4x3xf32>, tensor<2x2x2x3xf32>, tensor<f32>) -> tensor<2x3x4x3xf32>
    %174 = "stablehlo.slice"(%173) <{limit_indices = array<i64: 2, 2, 4, 3>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<2x3x4x3xf32>) -> tensor<2x2x4x3xf32>
    %175 = "stablehlo.convolution"(%arg57, %174) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, -1], [1, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x4x3x2xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x2x3xf32>
    %176 = "stablehlo.constant"() <{value = dense<1.250000e-01> : tensor<f32>}> : () -> tensor<f32>
    %177 = "stablehlo.broadcast_in_dim"(%176) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<5x4xf32>
    %178 = "stablehlo.multiply"(%177, %169) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %179 = "stablehlo.subtract"(%arg54, %178) : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    %180 = "stablehlo.constant"() <{value = dense<1.250000e-01> : tensor<f32>}> : () -> tensor<f32>
    %181 = "stablehlo.broadcast_in_dim"(%180) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x2x3xf32>
    %182 = "stablehlo.multiply"(%181, %175) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %183 = "stablehlo.subtract"(%arg55, %182) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    %184 = "stablehlo.slice"(%179) <{limit_indices = array<i64: 5, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<5x4xf32>) -> tensor<5x1xf32>
    %185 = "stablehlo.reshape"(%184) : (tensor<5x1xf32>) -> tensor<5xf32>
    %186:2 = "chlo.top_k"(%185) <{k = 2 : i64}> : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    %187 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %188 = "stablehlo.compare"(%arg53, %187) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %189 = "stablehlo.convert"(%188) : (tensor<i1>) -> tensor<i32>
    %190 = "stablehlo.case"(%189) ({
      %255 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
      %256 = "stablehlo.reduce"(%186#0, %255) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg62: tensor<f32>, %arg63: tensor<f32>):
        %257 = "stablehlo.maximum"(%arg62, %arg63) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%257) : (tensor<f32>) -> ()
      }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%256) : (tensor<f32>) -> ()
    }, {
      %252 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %253 = "stablehlo.reduce"(%186#0, %252) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg60: tensor<f32>, %arg61: tensor<f32>):
        %254 = "stablehlo.add"(%arg60, %arg61) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%254) : (tensor<f32>) -> ()
      }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%253) : (tensor<f32>) -> ()
    }) : (tensor<i32>) -> tensor<f32>
    %191 = "stablehlo.reshape"(%183) : (tensor<2x2x2x3xf32>) -> tensor<24xf32>
    %192 = "stablehlo.sort"(%191) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg58: tensor<f32>, %arg59: tensor<f32>):
      %237 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %238 = "stablehlo.compare"(%arg58, %237) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %239 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %240 = "stablehlo.select"(%238, %239, %arg58) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %241 = "stablehlo.compare"(%arg58, %arg58) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %242 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %243 = "stablehlo.select"(%241, %242, %240) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %244 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %245 = "stablehlo.compare"(%arg59, %244) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %246 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %247 = "stablehlo.select"(%245, %246, %arg59) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %248 = "stablehlo.compare"(%arg59, %arg59) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %249 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
      %250 = "stablehlo.select"(%248, %249, %247) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %251 = "stablehlo.compare"(%243, %250) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%251) : (tensor<i1>) -> ()
    }) : (tensor<24xf32>) -> tensor<24xf32>
    %193 = "stablehlo.slice"(%192) <{limit_indices = array<i64: 3>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<24xf32>) -> tensor<3xf32>
    %194 = "stablehlo.constant"() <{value = dense<32> : tensor<i32>}> : () -> tensor<i32>
    %195 = "stablehlo.shift_right_logical"(%arg53, %194) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %196 = "stablehlo.convert"(%195) : (tensor<i32>) -> tensor<ui32>
    %197 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %198 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %199 = "stablehlo.and"(%arg53, %198) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %200 = "stablehlo.convert"(%199) : (tensor<i32>) -> tensor<ui32>
    %201 = "stablehlo.broadcast_in_dim"(%200) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %202 = "stablehlo.concatenate"(%197, %201) <{dimension = 0 : i64}> : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %203 = "stablehlo.slice"(%202) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %204 = "stablehlo.reshape"(%203) : (tensor<1xui32>) -> tensor<ui32>
    %205 = "stablehlo.slice"(%202) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %206 = "stablehlo.reshape"(%205) : (tensor<1xui32>) -> tensor<ui32>
    %207 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xui64>
    %208 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<3xui64>
    %210 = "stablehlo.multiply"(%209, %207) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %211 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %212 = "stablehlo.broadcast_in_dim"(%211) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<3xui64>
    %213 = "stablehlo.shift_right_logical"(%210, %212) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %214 = "stablehlo.convert"(%210) : (tensor<3xui64>) -> tensor<3xui32>
    %215 = "stablehlo.convert"(%213) : (tensor<3xui64>) -> tensor<3xui32>
    %216:2 = "func.call"(%204, %206, %215, %214) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
    %217 = "stablehlo.xor"(%216#0, %216#1) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %218 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %219 = "stablehlo.add"(%arg53, %218) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %220 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %221 = "func.call"(%arg53, %220) <{callee = @remainder}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %222 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %223 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %224 = "stablehlo.compare"(%222, %223) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %225 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %226 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %227 = "stablehlo.add"(%225, %226) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %228 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %229 = "stablehlo.select"(%224, %227, %228) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %230 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %231 = "stablehlo.compare"(%221, %230) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %232 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %233 = "stablehlo.add"(%221, %232) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %234 = "stablehlo.select"(%231, %233, %221) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %235 = "stablehlo.dynamic_slice"(%118, %229, %234) <{slice_sizes = array<i64: 2, 1>}> : (tensor<2x6xi32>, tensor<i32>, tensor<i32>) -> tensor<2x1xi32>
    %236 = "stablehlo.reshape"(%235) : (tensor<2x1xi32>) -> tensor<2xi32>
    "func.return"(%219, %179, %183, %217, %152, %193, %190, %236, %186#1) : (tensor<i32>, tensor<5x4xf32>, tensor<2x2x2x3xf32>, tensor<3xui32>, tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x4xf32>, tensor<i32>) -> tensor<4xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg51: tensor<3x4xf32>, %arg52: tensor<i32>):
    %115 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %116 = "stablehlo.dynamic_slice"(%arg51, %arg52, %115) <{slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %117 = "stablehlo.reshape"(%116) : (tensor<1x4xf32>) -> tensor<4xf32>
    "func.return"(%117) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>), res_attrs = [{}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg47: tensor<4xf32>, %arg48: tensor<4xf32>):
    %104 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %106 = "stablehlo.multiply"(%arg47, %105) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %107 = "stablehlo.add"(%106, %arg48) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %108 = "stablehlo.tanh"(%107) : (tensor<4xf32>) -> tensor<4xf32>
    %109 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %111 = "stablehlo.subtract"(%110, %108) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %112 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %113 = "stablehlo.reduce"(%108, %112) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg49: tensor<f32>, %arg50: tensor<f32>):
      %114 = "stablehlo.add"(%arg49, %arg50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%114) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%108, %113, %108, %111) : (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg44: tensor<3xf32>, %arg45: tensor<f32>, %arg46: tensor<i32>):
    %102 = "stablehlo.broadcast_in_dim"(%arg45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %103 = "stablehlo.dynamic_update_slice"(%arg44, %102, %arg46) : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
    "func.return"(%103) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3x4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<3x4xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim_0", sym_visibility = "private"}> ({
  ^bb0(%arg41: tensor<3x4xf32>, %arg42: tensor<4xf32>, %arg43: tensor<i32>):
    %99 = "stablehlo.broadcast_in_dim"(%arg42) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1x4xf32>
    %100 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %101 = "stablehlo.dynamic_update_slice"(%arg41, %99, %arg43, %100) : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    "func.return"(%101) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xf32>, tensor<i32>) -> tensor<f32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim_1", sym_visibility = "private"}> ({
  ^bb0(%arg39: tensor<3xf32>, %arg40: tensor<i32>):
    %97 = "stablehlo.dynamic_slice"(%arg39, %arg40) <{slice_sizes = array<i64: 1>}> : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
    %98 = "stablehlo.reshape"(%97) : (tensor<1xf32>) -> tensor<f32>
    "func.return"(%98) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), res_attrs = [{}, {}], sym_name = "closed_call_2", sym_visibility = "private"}> ({
  ^bb0(%arg35: tensor<4xf32>, %arg36: tensor<f32>, %arg37: tensor<4xf32>, %arg38: tensor<4xf32>):
    %89 = "stablehlo.broadcast_in_dim"(%arg36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %90 = "stablehlo.add"(%arg35, %89) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %91 = "stablehlo.multiply"(%90, %arg38) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %92 = "stablehlo.multiply"(%91, %arg37) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %93 = "stablehlo.add"(%91, %92) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %94 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %96 = "stablehlo.multiply"(%93, %95) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%96, %93) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<ui32>, %arg14: tensor<ui32>, %arg15: tensor<3xui32>, %arg16: tensor<3xui32>):
    %72 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %73 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %74 = "stablehlo.xor"(%arg13, %arg14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %75 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %76 = "stablehlo.xor"(%74, %75) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %77 = "stablehlo.broadcast_in_dim"(%arg13) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %78 = "stablehlo.add"(%arg15, %77) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %79 = "stablehlo.broadcast_in_dim"(%arg14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %80 = "stablehlo.add"(%arg16, %79) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %81 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %82 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %83:9 = "stablehlo.while"(%82, %81, %78, %80, %arg14, %76, %arg13, %72, %73) ({
    ^bb0(%arg26: tensor<i32>, %arg27: tensor<i32>, %arg28: tensor<3xui32>, %arg29: tensor<3xui32>, %arg30: tensor<ui32>, %arg31: tensor<ui32>, %arg32: tensor<ui32>, %arg33: tensor<4xui32>, %arg34: tensor<4xui32>):
      %87 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %88 = "stablehlo.compare"(%arg26, %87) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%88) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg17: tensor<i32>, %arg18: tensor<i32>, %arg19: tensor<3xui32>, %arg20: tensor<3xui32>, %arg21: tensor<ui32>, %arg22: tensor<ui32>, %arg23: tensor<ui32>, %arg24: tensor<4xui32>, %arg25: tensor<4xui32>):
      %84:8 = "func.call"(%arg18, %arg19, %arg20, %arg21, %arg22, %arg23, %arg24, %arg25) <{callee = @closed_call_3}> : (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %85 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %86 = "stablehlo.add"(%arg17, %85) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%86, %84#0, %84#1, %84#2, %84#3, %84#4, %84#5, %84#6, %84#7) : (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%83#2, %83#3) : (tensor<3xui32>, tensor<3xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call_3", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<3xui32>, %arg7: tensor<3xui32>, %arg8: tensor<ui32>, %arg9: tensor<ui32>, %arg10: tensor<ui32>, %arg11: tensor<4xui32>, %arg12: tensor<4xui32>):
    %17 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %18 = "stablehlo.add"(%arg5, %17) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %19 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %20 = "stablehlo.reshape"(%19) : (tensor<1xui32>) -> tensor<ui32>
    %21 = "stablehlo.add"(%arg6, %arg7) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %22 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %23 = "stablehlo.shift_left"(%arg7, %22) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %24 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %25 = "stablehlo.subtract"(%24, %20) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %27 = "stablehlo.shift_right_logical"(%arg7, %26) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %28 = "stablehlo.or"(%23, %27) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %29 = "stablehlo.xor"(%21, %28) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %30 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %31 = "stablehlo.reshape"(%30) : (tensor<1xui32>) -> tensor<ui32>
    %32 = "stablehlo.add"(%21, %29) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %33 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %34 = "stablehlo.shift_left"(%29, %33) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %35 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %36 = "stablehlo.subtract"(%35, %31) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %38 = "stablehlo.shift_right_logical"(%29, %37) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %39 = "stablehlo.or"(%34, %38) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %40 = "stablehlo.xor"(%32, %39) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %41 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %42 = "stablehlo.reshape"(%41) : (tensor<1xui32>) -> tensor<ui32>
    %43 = "stablehlo.add"(%32, %40) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %44 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %45 = "stablehlo.shift_left"(%40, %44) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %46 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %47 = "stablehlo.subtract"(%46, %42) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %49 = "stablehlo.shift_right_logical"(%40, %48) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %50 = "stablehlo.or"(%45, %49) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %51 = "stablehlo.xor"(%43, %50) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %52 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %53 = "stablehlo.reshape"(%52) : (tensor<1xui32>) -> tensor<ui32>
    %54 = "stablehlo.add"(%43, %51) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %55 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %56 = "stablehlo.shift_left"(%51, %55) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %57 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %58 = "stablehlo.subtract"(%57, %53) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %60 = "stablehlo.shift_right_logical"(%51, %59) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %61 = "stablehlo.or"(%56, %60) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %62 = "stablehlo.xor"(%54, %61) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %63 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %64 = "stablehlo.add"(%54, %63) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %65 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %66 = "stablehlo.add"(%62, %65) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %67 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %68 = "stablehlo.add"(%arg5, %67) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %69 = "stablehlo.convert"(%68) : (tensor<i32>) -> tensor<ui32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %71 = "stablehlo.add"(%66, %70) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    "func.return"(%18, %64, %71, %arg9, %arg10, %arg8, %arg12, %arg11) : (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
    %1 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.compare"(%1, %2) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %5 = "func.call"(%3, %4, %1) <{callee = @_where}> : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = "stablehlo.remainder"(%arg3, %5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.compare"(%6, %7) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.compare"(%6, %9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %12 = "stablehlo.compare"(%5, %11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %13 = "stablehlo.compare"(%10, %12) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %14 = "stablehlo.and"(%13, %8) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %15 = "stablehlo.add"(%6, %5) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %16 = "stablehlo.select"(%14, %15, %6) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%16) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%0) : (tensor<i32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
