/** The name that differs from this one by the fewest letters; null where all are quite different. */
export function nearest(name: string, known: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(name.length / 3))
  const ranked = known
    .map((each) => ({ each, letters: distance(name, each) }))
    .filter(({ letters }) => letters > 0 && letters <= most)
    .toSorted((one, next) => one.letters - next.letters || (one.each < next.each ? -1 : 1))
  return ranked[0]?.each ?? null
}

/** By Levenshtein (1966): letters that are put in, left out, or others. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1]
    for (let place = 0; place < other.length; place++) {
      const replaced = (row[place] ?? 0) + (one[at] === other[place] ? 0 : 1)
      next.push(Math.min(replaced, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
