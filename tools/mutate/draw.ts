// Which mutants a seed draws: every stratum has its share of them, and the kinds take turns.

import { type Kind, type Mutant, turnOf } from './mutant.ts'

/**
 * Draws so many. The order is that of the strata. A mutant's turn depends on its own text, so a change
 * elsewhere leaves most of the draw as it is.
 */
export function draw(all: readonly Mutant[], many: number, seed: number): Mutant[] {
  const strata = [...new Set(all.map(({ stratum }) => stratum))].toSorted()
  const membersOf = (wanted: string): Mutant[] => all.filter(({ stratum }) => stratum === wanted)
  const sizes = new Map(strata.map((stratum) => [stratum, membersOf(stratum).length]))
  const kinds = new Map<Kind, number>()
  return [...sharesOf(sizes, many)].flatMap(([stratum, share]) =>
    drawFrom(membersOf(stratum), share, seed, kinds),
  )
}

/** One for every stratum, and the rest by their sizes. */
export function sharesOf(sizes: ReadonlyMap<string, number>, many: number): Map<string, number> {
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const shares = new Map([...sizes.keys()].map((stratum) => [stratum, 0]))
  for (let given = 0; given < many; given++) {
    const lack = ([stratum, size]: [string, number]): number => {
      const share = shares.get(stratum) ?? 0
      return share === 0 ? Number.POSITIVE_INFINITY : (size / total) * many - share
    }
    const [[next] = ['']] = [...sizes].toSorted((left, right) => compare(lack(right), lack(left)))
    shares.set(next, (shares.get(next) ?? 0) + 1)
  }
  return shares
}

function drawFrom(all: readonly Mutant[], many: number, seed: number, kinds: Map<Kind, number>): Mutant[] {
  const drawn: Mutant[] = []
  const turns = new Map(all.map((mutant) => [mutant, turnOf(mutant, seed)]))
  while (drawn.length < many) {
    // The line of a mutant is not drawn again: it would say little new.
    const left = all.filter((mutant) => !drawn.some((one) => isSameLine(one, mutant)))
    const seldom = (mutant: Mutant): number => kinds.get(mutant.kind) ?? 0
    const [next] = left.toSorted(
      (one, other) => seldom(one) - seldom(other) || compare(turns.get(one) ?? '', turns.get(other) ?? ''),
    )
    if (next === undefined) break
    kinds.set(next.kind, seldom(next) + 1)
    drawn.push(next)
  }
  return drawn
}

function isSameLine(one: Mutant, other: Mutant): boolean {
  return one.file === other.file && one.line === other.line
}

function compare<T extends number | string>(left: T, right: T): number {
  return left < right ? -1 : Number(left > right)
}
