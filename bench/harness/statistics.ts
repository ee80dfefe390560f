/** The value that `share` (0 to 1) of the values do not exceed; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** The middle value; NaN for none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** NaN for none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The standard deviation of all there are, not of a sample. */
export function deviation(values: readonly number[]): number {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}

/** -Infinity for none. */
export function largest(values: readonly number[]): number {
  return values.reduce((max, value) => Math.max(max, value), -Infinity)
}
