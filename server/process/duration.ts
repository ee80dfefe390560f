// Durations that the service itself waits for.

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** NaN for an invalid duration. */
export function msOf(duration: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? []
  return Math.ceil(Number(amount) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? Number.NaN))
}
