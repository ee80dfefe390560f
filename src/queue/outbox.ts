// Bringing to other queues what a script cannot: jobs, and the news that parents have ended. Whoever claims is told that
// there is some; several may bring the same, for who receives it passes over what came before.
//
// A queue that refuses, or does not answer soon, keeps nobody from what goes to others: what goes there is left to an errand of its
// own (see left.ts).

import { delivered, type OutboxAnswer, outbox, receive, watch } from '../generated/queue.ts'
import { inUse } from '../runtime/agreement.ts'
import { isSoon } from '../runtime/in-turn.ts'
import type { Trace } from '../runtime/runner.ts'
import { learnTold } from '../runtime/told.ts'
import { byQueue } from './by-queue.ts'
import { type Left, leftOf } from './left.ts'
import type { Source } from './source.ts'

type Entry = OutboxAnswer['entries'][number]

const PAGE = 100
/** Less than the script reads of one page at most. */
const PAGE_BYTES = 2 ** 21

/** What an instance has put there it brings before it is closed: nobody else may come for long. */
const alsoAtClose = (): Trace => ({ atClose: 'gives back' })

/** Empties the outbox, but for what goes to queues that cannot be reached: that follows. Throws what kept it from the outbox. */
export async function deliver(source: Source): Promise<void> {
  const left = leftOf(source, bringTo)
  while (await bringAll(source, left)) left.lookAgain()
}

/** Brings all that goes to one queue. Throws what kept it from that. */
export async function bringTo(source: Source, target: string): Promise<void> {
  while (await bringAllTo(source, target));
}

/** Resolves to whether it is to be brought again, from the first on. */
async function bringAllTo(source: Source, target: string): Promise<boolean> {
  for await (const entries of pages(source, 0)) {
    const those = entries.filter((entry) => entry.target === target)
    if (those.length > 0 && (await bring(source, target, those))) return true
  }
  return false
}

/** Resolves to whether some is to be brought again, from the first on: none of what comes behind it is brought before. */
async function bringAll(source: Source, left: Left): Promise<boolean> {
  const behind = new Set<string>()
  const after = left.beginsAfter
  for await (const entries of pages(source, after)) {
    const bringing = [...byQueue(entries, (entry) => entry.target)].map(async ([target, those]) => {
      if (left.has(target) || behind.has(target)) return
      if (await bringOrLeave(source, left, target, those)) behind.add(target)
    })
    await Promise.all(bringing)
    left.note(after, entries.at(-1)?.number ?? 0)
  }
  return behind.size > 0
}

/** As `bring`, but where that fails, or takes its time, the rest is left to an errand. */
async function bringOrLeave(
  source: Source,
  left: Left,
  target: string,
  entries: readonly Entry[],
): Promise<boolean> {
  const bringing = bring(source, target, entries)
  const isBrought = bringing.then(
    () => true,
    () => false,
  )
  if ((await isSoon(bringing)) && (await isBrought)) return bringing
  left.leave(target)
  return false
}

/** From behind that number on. */
async function* pages(source: Source, number: number): AsyncGenerator<readonly Entry[], void, undefined> {
  for (let after = number; ; ) {
    const { entries } = await source.unit.run(outbox, { after: String(after), limit: PAGE }, alsoAtClose())
    const last = entries.at(-1)
    if (last === undefined) return
    yield entries
    if (isLastPage(entries)) return
    await putOutMore(source)
    after = last.number
  }
}

/** A page ends early behind large jobs. */
function isLastPage(entries: readonly Entry[]): boolean {
  const bytes = entries.reduce((sum, { what }) => sum + what.length, 0)
  return entries.length < PAGE && bytes < PAGE_BYTES
}

/** News of large ends are put out in steps: what one call has left the next one does. */
async function putOutMore(source: Source): Promise<void> {
  const told = await learnTold(source.unit)
  await source.unit.run(watch, { target: source.address, ...told, wanted: [] }, alsoAtClose())
}

/** Resolves to whether it is to be brought again: the other queue has seen greater numbers. Throws what kept it from that. */
async function bring(source: Source, target: string, entries: readonly Entry[]): Promise<boolean> {
  const ahead = entries[0]?.ahead ?? 0
  const handed = entries.map(({ number, what }) => ({ number: number + ahead, what }))
  const newest = await hand(source, target, handed)
  const numbers = entries.map(({ number }) => String(number))
  const answer = await source.unit.run(delivered, { target, ahead, newest, numbers }, alsoAtClose())
  return answer.status === 'behind'
}

/** Resolves to the number of the newest that had come there before. */
export async function hand(
  source: Source,
  target: string,
  entries: readonly Pick<Entry, 'number' | 'what'>[],
): Promise<number> {
  const other = source.sibling(target)
  const told = await learnTold(other.unit)
  const from = { codec: other.codec.name, source: source.address, partitions: other.spread, ...told }
  const take = (those: readonly Pick<Entry, 'number' | 'what'>[]) =>
    inUse(
      other,
      (proof) => other.unit.run(receive, { ...from, proof, entries: those }, alsoAtClose()),
      'gives back',
    )
  const first = await take(entries)
  void other.chores.see(first.chores)
  // One call takes fewer where these are jobs with many parents.
  for (let at = first.taken; at < entries.length; ) at += (await take(entries.slice(at))).taken
  return first.newest
}
