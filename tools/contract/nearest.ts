/** The name that differs from this one by the fewest letters; null where all are quite different. */
export function nearest(name: string, known: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(name.length / 3))
  const ranked = known
    .map((each) => ({ each, letters: distance(name, each) }))
    .filter(({ letters }) => letters > 0 && letters <= most)
    .toSorted((one, next) => one.letters - next.letters || (one.each < next.each ? -1 : 1))
  return ranked[0]?.each ?? null
}

/** `did you mean seats?`, or what else to do where no name is like it. */
export function orNearest(name: string, known: readonly string[], otherwise: string): string {
  const like = nearest(name, known)
  return like === null ? otherwise : `did you mean ${like}?`
}

/** Letters that are put in, left out, others, or the two of a pair in the wrong order (Damerau 1964). */
function distance(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1]
    for (let place = 0; place < other.length; place++) {
      const replaced = (row[place] ?? 0) + (one[at] === other[place] ? 0 : 1)
      const isSwapped = at > 0 && place > 0 && one[at] === other[place - 1] && one[at - 1] === other[place]
      const swapped = isSwapped ? (before[place - 1] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}
