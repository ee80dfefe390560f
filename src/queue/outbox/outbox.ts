// Delivers to other queues what a script cannot: jobs, and the ends of dependencies. The answer of a claim reports
// that there are entries. Several processes may deliver the same entries, because the receiver skips duplicates.
//
// A queue that rejects entries, or does not answer soon, does not delay those for others: its entries are left to an
// errand (see left.ts).

import { CHORES } from '../../generated/bits.ts'
import { ask, delivered, outbox, type OutboxAnswer, receive, watch } from '../../generated/queue.ts'
import type { Trace } from '../../runtime/calls/runner.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { isOutage } from '../../runtime/errors/outage.ts'
import { inUse } from '../../runtime/partitions/agreement.ts'
import { isSoon } from '../../runtime/time/in-turn.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import { Errand } from '../source/chores.ts'
import type { QueueSource } from '../source/source.ts'
import { type LeftInOutbox, leftOf, type LeftOnNode } from './left.ts'

type Entry = OutboxAnswer['entries'][number]

/** The entries of a page for one queue. */
interface ToBring {
  readonly target: string
  readonly entries: readonly Entry[]
  /** The number of the first entry. */
  readonly first: number
}

/** `behind`: the other queue has seen greater numbers, so all entries must be delivered again from the first one on. */
type Brought = 'brought' | 'behind' | 'refused' | 'silent'

const PAGE = 100
/** Less than what the script reads for one page at most. */
const PAGE_BYTES = 2 ** 21

/** An instance delivers its entries before it closes, because no other process may call for a long time. */
const alsoAtClose = (): Trace => ({ atClose: 'gives back' })

/**
 * Delivers all entries, except those for unreachable queues, which follow later. Throws when the outbox cannot be
 * read.
 */
export async function deliver(source: QueueSource): Promise<void> {
  const left = leftOf(source, bringLeft)
  while (await bringAll(source, left)) left.lookAgain()
}

/** Delivers all entries for one queue. Throws when that fails. */
export async function bringTo(source: QueueSource, target: string): Promise<void> {
  while (await bringAllTo(source, target));
}

/** Resolves to true when the entries must be delivered again from the first one on. */
async function bringAllTo(source: QueueSource, target: string): Promise<boolean> {
  for await (const entries of pages(source, 0)) {
    const those = entries.filter((entry) => entry.target === target)
    if (those.length > 0 && (await bring(source, target, those)) === 'behind') return true
  }
  return false
}

/**
 * Resolves to true when some entries must be delivered again from the first one on; their queues get nothing before
 * that.
 */
async function bringAll(source: QueueSource, left: LeftInOutbox): Promise<boolean> {
  const behind = new Set<string>()
  const after = left.beginsAfter
  for await (const entries of pages(source, after)) {
    const bringing = queuesOf(entries).map(async (queue) => {
      if (left.has(queue.target, queue.first) || behind.has(queue.target)) return
      if ((await bringOrLeave(source, left, queue)) === 'behind') behind.add(queue.target)
    })
    await Promise.all(bringing)
    left.note(after, entries.at(-1)?.number ?? 0)
  }
  return behind.size > 0
}

/** If delivering fails or takes long, the rest is left to an errand. */
async function bringOrLeave(source: QueueSource, left: LeftInOutbox, queue: ToBring): Promise<Brought> {
  const { target, entries, first } = queue
  if (left.isSilent(target)) {
    left.leave(target, first)
    return 'silent'
  }
  const bringing = bring(source, target, entries)
  const brought = (await isSoon(bringing)) ? await bringing.catch(failureOf) : 'silent'
  if (brought === 'silent' || brought === 'refused') {
    left.leave(target, first).soon(target, brought === 'refused')
  } else left.answered(target)
  return brought
}

function failureOf(error: unknown): Brought {
  return isOutage(error) ? 'silent' : 'refused'
}

/** Delivers what is left for a node, except what fails again. Throws when the outbox cannot be read. */
async function bringLeft(source: QueueSource, left: LeftOnNode): Promise<void> {
  for (let from = left.begin(); from !== null; from = left.begin()) {
    try {
      for await (const entries of pages(source, from - 1)) {
        await bringToNode(source, left, queuesOf(entries))
        if (left.isOver) break
      }
      left.end()
    } finally {
      left.failAll()
    }
  }
}

/** Tries one queue first: if its node is silent, the others are not tried. */
async function bringToNode(source: QueueSource, left: LeftOnNode, queues: readonly ToBring[]): Promise<void> {
  const attempt = async ({ target, entries }: ToBring): Promise<unknown> => {
    try {
      if ((await bring(source, target, entries)) === 'behind') left.again(target)
      left.answered()
      return null
    } catch (error) {
      left.fail(target)
      // A queue that rejects has answered.
      if (!isOutage(error)) left.answered()
      return error
    }
  }
  const [one, ...others] = left.inTurn(queues.filter(({ target }) => left.tries(target)))
  if (one === undefined) return
  if (isOutage(await attempt(one))) left.notAnswered(one.target)
  if (left.isSilent) left.failAll()
  else await Promise.all(others.map(attempt))
}

/** The entries for each queue, in order. */
function queuesOf(all: readonly Entry[]): ToBring[] {
  return [...byQueue(all, ({ target }) => target)].map(([target, entries]) => {
    return { target, entries, first: entries[0]?.number ?? 0 }
  })
}

/** Reads the entries after that number. */
async function* pages(
  source: QueueSource,
  number: number,
): AsyncGenerator<readonly Entry[], void, undefined> {
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

/** A page that is not the last one is full, in entries or in bytes. */
function isLastPage(entries: readonly Entry[]): boolean {
  const bytes = entries.reduce((sum, { what }) => sum + what.length, 0)
  return entries.length < PAGE && bytes < PAGE_BYTES
}

/** Reports of large results are put out in steps: each call continues where the last one stopped. */
async function putOutMore(source: QueueSource): Promise<void> {
  const notifyChannel = await learnNotifyChannel(source.unit)
  await source.unit.run(watch, { target: source.address, ...notifyChannel, wanted: [] }, alsoAtClose())
}

/** Delivers entries to one queue. Throws when that fails. */
async function bring(
  source: QueueSource,
  target: string,
  entries: readonly Entry[],
): Promise<'brought' | 'behind'> {
  const ahead = entries[0]?.ahead ?? 0
  const handed = entries.map(({ number, what }) => ({ number: number + ahead, what }))
  const newest = await hand(source, target, handed)
  const numbers = entries.map(({ number }) => String(number))
  const answer = await source.unit.run(delivered, { target, ahead, newest, numbers }, alsoAtClose())
  return answer.status === 'behind' ? 'behind' : 'brought'
}

/** Hands entries to another queue. Resolves to the newest number that the queue had received before. */
export async function hand(
  source: QueueSource,
  target: string,
  entries: readonly Pick<Entry, 'number' | 'what'>[],
): Promise<number> {
  const other = source.sibling(target)
  const notifyChannel = await learnNotifyChannel(other.unit)
  const from = { codec: other.codec.name, source: source.address, partitions: other.spread, ...notifyChannel }
  const take = (those: readonly Pick<Entry, 'number' | 'what'>[]) =>
    inUse(
      other,
      (proof) => other.unit.run(receive, { ...from, proof, entries: those }, alsoAtClose()),
      'gives back',
    )
  const first = await take(entries)
  void other.chores.see(first.chores)
  // One call takes fewer entries if they are jobs with many dependencies.
  for (let at = first.taken; at < entries.length; ) at += (await take(entries.slice(at))).taken
  return first.newest
}

/** Groups items by queue, in order. */
export function byQueue<Item>(items: readonly Item[], queueOf: (item: Item) => string): Map<string, Item[]> {
  const found = new Map<string, Item[]>()
  for (const item of items) {
    const those = found.get(queueOf(item))
    if (those === undefined) found.set(queueOf(item), [item])
    else those.push(item)
  }
  return found
}

// Asks other queues about the dependencies that jobs here wait for. Each queue is asked by itself: one that rejects
// the call or does not answer does not delay the others, and is asked again until it answers.

/** A queue reports the end of a dependency once it was asked about it. Asking again is a safety net. */
const ASK_AGAIN_MS = 60_000
/** The most open questions to one queue; others are left to the safety net. */
const MOST_QUESTIONS = 10_000

const NOTHING: Promise<unknown> = Promise.resolve()

interface Question {
  readonly id: string
  /** The number of the newest job when the question was asked. */
  readonly newest: number
}

/** The open questions, by the asking and the asked queue. */
const asking = new WeakMap<Runtime, Map<string, Questions>>()

/** Asks all queues about due dependencies. Throws when these cannot be read. */
export async function askAfter(source: QueueSource): Promise<void> {
  for (;;) {
    const { dependencies, newest } = await source.unit.runOnce(ask, (id) => ({
      ...id,
      limit: PAGE,
      againMs: ASK_AGAIN_MS,
    }))
    for (const [queue, those] of byQueue(dependencies, (dependency) => dependency.queue)) {
      const questions = those.map(({ id }) => ({ id, newest }))
      questionsFor(source, queue).add(questions)
    }
    if (dependencies.length < PAGE) return
  }
}

/** Resolves when these queues have answered all open questions, or asking them has failed. */
export async function untilAnswered(source: QueueSource, queues: readonly string[]): Promise<void> {
  const those = asking.get(source.unit.runtime)
  await Promise.all(queues.map((queue) => those?.get(keyOf(source, queue))?.answered ?? NOTHING))
}

function keyOf({ unit, codec }: QueueSource, queue: string): string {
  return `${unit.prefix} ${codec.name} asks ${queue}`
}

function questionsFor(source: QueueSource, queue: string): Questions {
  const { runtime } = source.unit
  const those = asking.get(runtime) ?? new Map<string, Questions>()
  asking.set(runtime, those)
  const key = keyOf(source, queue)
  const known = those.get(key)
  if (known !== undefined) return known
  const questions = new Questions(source, queue, () => void those.delete(key))
  those.set(key, questions)
  return questions
}

/** The open questions to one queue: retried until it answers, and at once when there is a new one. */
class Questions {
  readonly #source: QueueSource
  readonly #queue: string
  readonly #errand: Errand
  /** The newest job for each dependency. */
  readonly #open = new Map<string, number>()
  /** Resolves when a try with all questions has succeeded or failed. */
  answered: Promise<unknown> = NOTHING

  constructor(source: QueueSource, queue: string, onIdle: () => void) {
    this.#source = source
    this.#queue = queue
    this.#errand = new Errand(source.unit.runtime, { insists: true, task: () => this.#ask(), onIdle })
  }

  add(questions: readonly Question[]): void {
    for (const question of questions) this.#add(question)
    this.answered = this.#errand.hurry()
  }

  #add({ id, newest }: Question): void {
    const known = this.#open.get(id)
    if (known === undefined && this.#open.size >= MOST_QUESTIONS) return
    this.#open.set(id, Math.max(known ?? 0, newest))
  }

  /**
   * Questions that are added meanwhile wait for the next try: otherwise this one would not end while more are added.
   */
  async #ask(): Promise<void> {
    const all = [...this.#open].map(([id, newest]) => ({ id, newest }))
    for (let from = 0; from < all.length; from += PAGE) {
      const some = all.slice(from, from + PAGE)
      await askOne(this.#source, this.#queue, some)
      // A question that was added again meanwhile stays: newer jobs wait for a newer answer.
      for (const { id, newest } of some) if (this.#open.get(id) === newest) this.#open.delete(id)
    }
  }
}

async function askOne(source: QueueSource, queue: string, questions: readonly Question[]): Promise<void> {
  const other = source.sibling(queue)
  const notifyChannel = await learnNotifyChannel(other.unit)
  const wanted = questions.map(({ id }) => id)
  const { chores, absent } = await other.unit.run(watch, { target: source.address, ...notifyChannel, wanted })
  void other.chores.see(chores)
  const isAbsent = new Set(absent)
  const news = questions
    .filter(({ id }) => isAbsent.has(id))
    .map(({ id, newest }) => ({ number: newest, what: Buffer.from(`a${id}`) }))
  if (news.length === 0) return
  // An absent dependency may have reported its end in the outbox already: that report is valid, so it must arrive
  // first.
  if ((chores & CHORES.deliver) !== 0) await bringTo(other, source.address)
  await hand(other, source.address, news)
}
