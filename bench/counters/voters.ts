// Voters come in no order, as people do: an index that grows at its end alone would be kinder than life.

const ODD = 2_654_435_761

/** Another one for each place below 2^32. */
export function voterOf(at: number): number {
  return Math.imul(at, ODD) >>> 0
}
