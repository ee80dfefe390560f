/** Microseconds of CLOCK_MONOTONIC, which all processes of a machine share. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
