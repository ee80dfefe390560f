// What a round has rolled up, shown in one partition: page after page, and behind the version that it follows.

import { type NotedAnswer, type ShowAnswer, show } from '../generated/counters.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { rest } from '../runtime/time/in-time.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Board } from './board.ts'
import type { RolledUp } from './count-source.ts'
import { inPages } from './source.ts'

/** What a partition told before a round rolled up. */
export type Noted = Exclude<NotedAnswer, { status: 'elsewhere' }>

export interface Item {
  readonly id: string
  /** '': SQL does not know it. */
  readonly value: string
  readonly taken: string
}

const NO_VERSION = -1
const FIRST_PAUSE_MS = 20

/** The newest version of SQL that anything shown was of before the round. */
export function newestOf(before: Noted): number {
  return before.status === 'ahead' ? Math.max(before.newest, before.version) : before.version
}

export async function showPartition(
  { retainMs, gapTries, runtime }: Board,
  partition: Unit,
  { version, since }: RolledUp,
  before: Noted | undefined,
  items: readonly Item[] = [],
): Promise<void> {
  let { turn = 0, version: seen = 0 } = before ?? {}
  // A database that had not come so far as it was rolled up came back with an old copy: what is shown may be of a time that it
  // knows nothing of.
  const isBehind = before !== undefined && newestOf(before) > since
  if (version === since && seen === version && !isBehind) return
  const pages = items.length === 0 ? [[]] : inPages(items)
  let left = isBehind ? seen : NO_VERSION
  for (const [at, counters] of pages.entries()) {
    const page = { version, since, last: at === pages.length - 1, retainMs, counters }
    const terms = { left, most: gapTries, deadlines: runtime.runner.deadlines }
    const answer = await showPage(partition, (missing) => ({ ...page, turn, seen: missing }), terms)
    if (answer.status !== 'shown') return
    turn = answer.turn
    left = NO_VERSION
  }
}

type PageOf = (seen: number) => Parameters<typeof show.encode>[0]

/** One whose version before stays away goes on without: that was lost with whoever was to show it. */
async function showPage(
  partition: Unit,
  page: PageOf,
  { left, most, deadlines }: { left: number; most: number; deadlines: Deadlines },
): Promise<ShowAnswer> {
  let answer = await partition.run(show, page(left))
  for (let tries = 0; answer.status === 'gap'; tries++) {
    const { version } = answer
    if (tries < most) await rest(FIRST_PAUSE_MS * 2 ** tries, deadlines)
    answer = await partition.run(show, page(tries < most ? NO_VERSION : version))
  }
  return answer
}
