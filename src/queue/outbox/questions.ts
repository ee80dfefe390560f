// Asking other queues after the parents that jobs here wait for. Each queue is asked by itself: one that refuses, or does not answer,
// keeps nobody from the others, and is asked again until it answers.

import { CHORES } from '../../generated/bits.ts'
import { ask, watch } from '../../generated/queue.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import { bringTo, byQueue, hand } from './outbox.ts'
import { Errand } from '../source/chores.ts'
import type { QueueSource } from '../source/source.ts'

const PAGE = 100
/** A parent that was asked after tells when it ends; that it is asked after again is a safety net. */
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
    const { parents, newest } = await source.unit.runOnce(ask, (id) => ({
      ...id,
      limit: PAGE,
      againMs: ASK_AGAIN_MS,
    }))
    for (const [queue, those] of byQueue(parents, (parent) => parent.queue)) {
      const questions = those.map(({ id }) => ({ id, newest }))
      questionsFor(source, queue).add(questions)
    }
    if (parents.length < PAGE) return
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
  /** The newest job, by the parent. */
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
