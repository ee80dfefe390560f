/** Draws places from 0 on by Zipf's law: the second comes half as often as the first. The same seed draws the same. */
export function zipf(count: number, seed: number = 1): () => number {
  const random = randomOf(seed)
  let sum = 0
  const sums = Array.from({ length: count }, (_, at) => (sum += 1 / (at + 1)))
  // Shares of the first place, the first two and so on.
  const shares = sums.map((value) => value / sum)
  return () => {
    const drawn = random()
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((shares[middle] ?? 1) < drawn) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A linear congruential generator, with the numbers of "Numerical Recipes". */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
