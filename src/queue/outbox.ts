// Bringing to other queues what a script cannot: jobs, and the news that parents have ended. Whoever claims is told that
// there is some; several may bring the same, for who receives it passes over what came before.

import { ask, delivered, type OutboxAnswer, outbox, receive, watch } from '../generated/queue.ts'
import { inUse } from '../runtime/agreement.ts'
import type { Trace } from '../runtime/runner.ts'
import { learnTold } from '../runtime/told.ts'
import { CHORES } from './chores.ts'
import type { Source } from './source.ts'

type Entry = OutboxAnswer['entries'][number]

/** What one queue has taken, and the number of the newest that had come there before. */
interface Brought {
  readonly newest: number
  readonly numbers: readonly string[]
}

const PAGE = 100
/** Less than the script reads of one page at most. */
const PAGE_BYTES = 2 ** 21
/** A parent that was asked after tells when it ends; that it is asked after again is a safety net. */
const ASK_AGAIN_MS = 60_000

/** What an instance has put there it brings before it is closed: nobody else may come for long. */
const alsoAtClose = (): Trace => ({ atClose: 'gives back' })

/** Empties the outbox, but for what goes to queues that cannot be reached. Throws what kept it from one of those. */
export async function deliver(source: Source): Promise<void> {
  const out = await bringAll(source)
  for (const error of out.values()) throw error
}

/** Resolves to the queues that cannot be reached, by their addresses, and why. */
async function bringAll(source: Source): Promise<ReadonlyMap<string, unknown>> {
  const out = new Map<string, unknown>()
  for (let [after, isBehind] = [0, false]; ; ) {
    const { entries } = await source.unit.run(outbox, { after: String(after), limit: PAGE }, alsoAtClose())
    isBehind = (await deliverPage(source, entries, out)) || isBehind
    const last = entries.at(-1)
    if (last === undefined || isLastPage(entries)) return isBehind ? bringAll(source) : out
    await putOutMore(source)
    after = last.number
  }
}

/** News of large ends are put out in steps: what one call has left the next one does. */
async function putOutMore(source: Source): Promise<void> {
  const told = await learnTold(source.unit)
  await source.unit.run(watch, { target: source.address, ...told, wanted: [] }, alsoAtClose())
}

/** A page ends early behind large jobs. */
function isLastPage(entries: readonly Entry[]): boolean {
  const bytes = entries.reduce((sum, { what }) => sum + what.length, 0)
  return entries.length < PAGE && bytes < PAGE_BYTES
}

/** Resolves to whether some is to be brought again; notes the queues that are out of reach, and why. */
async function deliverPage(
  source: Source,
  entries: readonly Entry[],
  out: Map<string, unknown>,
): Promise<boolean> {
  const brought: Brought[] = []
  const handing = [...byQueue(entries, (entry) => entry.target)].map(async ([target, those]) => {
    if (out.has(target)) return
    try {
      const newest = await hand(source, target, those)
      brought.push({ newest, numbers: those.map(({ number }) => String(number)) })
    } catch (error) {
      out.set(target, error)
    }
  })
  await Promise.all(handing)
  const telling = brought.map((each) => source.unit.run(delivered, each, alsoAtClose()))
  return (await Promise.all(telling)).some(({ status }) => status === 'behind')
}

/** Resolves to the number of the newest that had come there before. */
async function hand(
  source: Source,
  target: string,
  entries: readonly Pick<Entry, 'number' | 'what'>[],
): Promise<number> {
  const other = source.sibling(target)
  const told = await learnTold(other.unit)
  const from = { codec: other.codec.name, source: source.address }
  const { chores, newest } = await inUse(
    other,
    (proof) =>
      other.unit.run(receive, { ...from, partitions: other.spread, proof, ...told, entries }, alsoAtClose()),
    'gives back',
  )
  void other.chores.see(chores)
  return newest
}

/** Asks other queues after the parents that jobs here wait for. Throws what kept it from one of them, once all others are asked. */
export async function askAfter(source: Source): Promise<void> {
  const out = new Map<string, unknown>()
  for (;;) {
    const { parents, newest } = await source.unit.runOnce(ask, (id) => ({
      ...id,
      limit: PAGE,
      againMs: ASK_AGAIN_MS,
    }))
    // What is out of reach now is asked again after a while, and keeps nobody from the others.
    const asking = [...byQueue(parents, (parent) => parent.queue)].map(async ([queue, those]) => {
      if (out.has(queue)) return
      await askOne(source, queue, those, newest).catch((error: unknown) => out.set(queue, error))
    })
    await Promise.all(asking)
    if (parents.length < PAGE) break
  }
  for (const error of out.values()) throw error
}

async function askOne(
  source: Source,
  queue: string,
  parents: readonly { readonly id: string }[],
  newest: number,
): Promise<void> {
  const other = source.sibling(queue)
  const wanted = parents.map(({ id }) => id)
  const told = await learnTold(other.unit)
  const { chores, absent } = await other.unit.run(watch, { target: source.address, ...told, wanted })
  void other.chores.see(chores)
  const news = absent.map((id) => ({ number: newest, what: Buffer.from(`a${id}`) }))
  if (news.length === 0) return
  // What they came to may be on its way still: it counts, and so it comes first.
  if ((chores & CHORES.deliver) !== 0) await bringTo(other, source.address)
  await hand(other, source.address, news)
}

/** Throws what kept it from that queue. */
async function bringTo(source: Source, target: string): Promise<void> {
  const out = await bringAll(source)
  if (out.has(target)) throw out.get(target)
}

function byQueue<Item>(items: readonly Item[], queueOf: (item: Item) => string): Map<string, Item[]> {
  const found = new Map<string, Item[]>()
  for (const item of items) {
    const those = found.get(queueOf(item))
    if (those === undefined) found.set(queueOf(item), [item])
    else those.push(item)
  }
  return found
}
