// SPDX-License-Identifier: Apache-2.0
#include <rhino/ir/attributes.hpp>

namespace rhino::ir {

bool CollectiveAttrs::operator==(const CollectiveAttrs& other) const {
  if (mode != other.mode || channel != other.channel || dimension != other.dimension ||
      concat_dimension != other.concat_dimension || group_size != other.group_size)
    return false;
  if (groups == other.groups) return true;
  static const ReplicaGroups none;
  return (groups ? *groups : none) == (other.groups ? *other.groups : none);
}

Attributes::Attributes() noexcept = default;
Attributes::Attributes(const Attributes& other) = default;
Attributes::Attributes(Attributes&& other) noexcept = default;
Attributes& Attributes::operator=(const Attributes& other) = default;
Attributes& Attributes::operator=(Attributes&& other) noexcept = default;
Attributes::~Attributes() = default;

bool Attributes::operator==(const Attributes& other) const {
  return static_cast<const AttributesVariant&>(*this) == static_cast<const AttributesVariant&>(other);
}

}  // namespace rhino::ir
