// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rhino/frontend/roles.hpp>

namespace rhino::frontend::detail {

/// Signature from a manifest, checked against the function.
ir::Signature signature_from_manifest(const ir::Function& function, const std::string& text, const std::string& name);

/// Applies the user's rules to a complete signature.
void apply_rules(const std::vector<std::string>& rules, ir::Signature& signature);

/// In small letters (ASCII).
std::string lower(std::string_view text);

}  // namespace rhino::frontend::detail
