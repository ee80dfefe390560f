// Bringing to other queues what a script cannot: jobs, and the news that dependencies have ended. Whoever claims is told that
// there is some; several may bring the same, for who receives it passes over what came before.
//
// A queue that refuses, or does not answer soon, keeps nobody from what goes to others: what goes there is left to an errand
// (see left.ts).

import { CHORES } from '../../generated/bits.ts'
import { ask, delivered, outbox, type OutboxAnswer, receive, watch } from '../../generated/queue.ts'
import type { Trace } from '../../runtime/calls/runner.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { isOutage } from '../../runtime/errors/outage.ts'
import { inUse } from '../../runtime/partitions/agreement.ts'
import { isSoon } from '../../runtime/time/in-turn.ts'
import { learnTold } from '../../runtime/waiting/notify-channel.ts'
import { Errand } from '../source/chores.ts'
import type { QueueSource } from '../source/source.ts'
import { type LeftInOutbox, leftOf, type LeftOnNode } from './left.ts'

type Entry = OutboxAnswer['entries'][number]

/** What a page has for one queue. */
interface ToBring {
  readonly target: string
  readonly entries: readonly Entry[]
  /** The number of the first of them. */
  readonly first: number
}

/** `behind`: it is to be brought again, from the first on, for the other queue has seen greater numbers. */
type Brought = 'brought' | 'behind' | 'refused' | 'silent'

const PAGE = 100
/** Less than the script reads of one page at most. */
const PAGE_BYTES = 2 ** 21

/** What an instance has put there it brings before it is closed: nobody else may come for long. */
const alsoAtClose = (): Trace => ({ atClose: 'gives back' })

/** Empties the outbox, but for what goes to queues that cannot be reached: that follows. Throws what kept it from the outbox. */
export async function deliver(source: QueueSource): Promise<void> {
  const left = leftOf(source, bringLeft)
  while (await bringAll(source, left)) left.lookAgain()
}

/** Brings all that goes to one queue. Throws what kept it from that. */
export async function bringTo(source: QueueSource, target: string): Promise<void> {
  while (await bringAllTo(source, target));
}

/** Resolves to whether it is to be brought again, from the first on. */
async function bringAllTo(source: QueueSource, target: string): Promise<boolean> {
  for await (const entries of pages(source, 0)) {
    const those = entries.filter((entry) => entry.target === target)
    if (those.length > 0 && (await bring(source, target, those)) === 'behind') return true
  }
  return false
}

/** Resolves to whether some is to be brought again, from the first on: none of what comes behind it is brought before. */
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

/** Where bringing fails, or takes its time, the rest is left to an errand. */
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

/** Tries what is left on a node until all is brought but what fails. Throws what kept it from the outbox. */
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

/** One stands for all: where its node is silent, the others are not tried. */
async function bringToNode(source: QueueSource, left: LeftOnNode, queues: readonly ToBring[]): Promise<void> {
  const attempt = async ({ target, entries }: ToBring): Promise<unknown> => {
    try {
      if ((await bring(source, target, entries)) === 'behind') left.again(target)
      left.answered()
      return null
    } catch (error) {
      left.fail(target)
      // What refuses has answered.
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

/** What goes to each queue, in its order. */
function queuesOf(all: readonly Entry[]): ToBring[] {
  return [...byQueue(all, ({ target }) => target)].map(([target, entries]) => {
    return { target, entries, first: entries[0]?.number ?? 0 }
  })
}

/** From behind that number on. */
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

/** A page ends early behind large jobs. */
function isLastPage(entries: readonly Entry[]): boolean {
  const bytes = entries.reduce((sum, { what }) => sum + what.length, 0)
  return entries.length < PAGE && bytes < PAGE_BYTES
}

/** News of large ends are put out in steps: what one call has left the next one does. */
async function putOutMore(source: QueueSource): Promise<void> {
  const told = await learnTold(source.unit)
  await source.unit.run(watch, { target: source.address, ...told, wanted: [] }, alsoAtClose())
}

/** Throws what kept it from that. */
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

/** Resolves to the number of the newest that had come there before. */
export async function hand(
  source: QueueSource,
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
  // One call takes fewer where these are jobs with many dependencies.
  for (let at = first.taken; at < entries.length; ) at += (await take(entries.slice(at))).taken
  return first.newest
}

/** What goes to each queue, or is of it, in its order. */
export function byQueue<Item>(items: readonly Item[], queueOf: (item: Item) => string): Map<string, Item[]> {
  const found = new Map<string, Item[]>()
  for (const item of items) {
    const those = found.get(queueOf(item))
    if (those === undefined) found.set(queueOf(item), [item])
    else those.push(item)
  }
  return found
}

// Asking other queues after the dependencies that jobs here wait for. Each queue is asked by itself: one that refuses, or does not answer,
// keeps nobody from the others, and is asked again until it answers.

/** A dependency that was asked after tells when it ends; that it is asked after again is a safety net. */
const ASK_AGAIN_MS = 60_000
/** Of one queue; what is more than that is left to the safety net. */
const MOST_QUESTIONS = 10_000

const NOTHING: Promise<unknown> = Promise.resolve()

interface Question {
  readonly id: string
  /** The newest job when it was asked for. */
  readonly newest: number
}

/** What is being asked, by who asks and who is asked. */
const asking = new WeakMap<Runtime, Map<string, Questions>>()

/** Has all queues asked whose turn it is. Throws where it is not known which these are. */
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

/** Resolves when all that these queues are being asked is answered, or in vain. */
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

/** What one queue is to be asked: tried until it is answered, at once where more is asked. */
class Questions {
  readonly #source: QueueSource
  readonly #queue: string
  readonly #errand: Errand
  /** The newest job, by the dependency. */
  readonly #open = new Map<string, number>()
  /** Resolves when it was tried to ask all that there is, well or not. */
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

  /** What comes meanwhile is asked by the next try: else nobody would be told anything as long as more comes. */
  async #ask(): Promise<void> {
    const all = [...this.#open].map(([id, newest]) => ({ id, newest }))
    for (let from = 0; from < all.length; from += PAGE) {
      const some = all.slice(from, from + PAGE)
      await askOne(this.#source, this.#queue, some)
      // One that was asked once more meanwhile stays: others wait for the answer since.
      for (const { id, newest } of some) if (this.#open.get(id) === newest) this.#open.delete(id)
    }
  }
}

async function askOne(source: QueueSource, queue: string, questions: readonly Question[]): Promise<void> {
  const other = source.sibling(queue)
  const told = await learnTold(other.unit)
  const wanted = questions.map(({ id }) => id)
  const { chores, absent } = await other.unit.run(watch, { target: source.address, ...told, wanted })
  void other.chores.see(chores)
  const isAbsent = new Set(absent)
  const news = questions
    .filter(({ id }) => isAbsent.has(id))
    .map(({ id, newest }) => ({ number: newest, what: Buffer.from(`a${id}`) }))
  if (news.length === 0) return
  // What they came to may be on its way still: it counts, and so it comes first.
  if ((chores & CHORES.deliver) !== 0) await bringTo(other, source.address)
  await hand(other, source.address, news)
}
