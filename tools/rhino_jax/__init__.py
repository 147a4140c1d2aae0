# SPDX-License-Identifier: Apache-2.0
"""What Rhino's Python tools share: the step contract, the exporter, widening to f64, data sets."""
