// Asking other queues after the parents that jobs here wait for. Each queue is asked by itself: one that refuses, or does not answer,
// keeps nobody from the others.

import { ask, watch } from '../generated/queue.ts'
import type { BatchTerms } from '../runtime/batcher.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { learnTold } from '../runtime/told.ts'
import { byQueue } from './by-queue.ts'
import { CHORES } from './chores.ts'
import { bringTo, hand } from './outbox.ts'
import type { Source } from './source.ts'

const PAGE = 100
/** A parent that was asked after tells when it ends; that it is asked after again is a safety net. */
const ASK_AGAIN_MS = 60_000
const QUESTIONS: BatchTerms = {
  name: watch.script.name,
  items: PAGE,
  bytes: 2 ** 20,
  underWay: 2,
  waiting: 10_000,
}

const NOTHING: Promise<unknown> = Promise.resolve()

interface Question {
  readonly id: string
  /** The newest job when it was asked for. */
  readonly newest: number
}

/** What is being asked, by who asks and who is asked. */
const asking = new WeakMap<Runtime, Map<string, Promise<unknown>>>()

/** Has all queues asked whose turn it is. Throws where it is not known which these are. */
export async function askAfter(source: Source): Promise<void> {
  for (;;) {
    const { parents, newest } = await source.unit.runOnce(ask, (id) => ({
      ...id,
      limit: PAGE,
      againMs: ASK_AGAIN_MS,
    }))
    for (const [queue, those] of byQueue(parents, (parent) => parent.queue)) {
      begin(
        source,
        queue,
        those.map(({ id }) => ({ id, newest })),
      )
    }
    if (parents.length < PAGE) return
  }
}

/** Resolves when all that these queues are being asked is answered, or in vain. */
export async function untilAnswered(source: Source, queues: readonly string[]): Promise<void> {
  const those = asking.get(source.unit.runtime)
  await Promise.all(queues.map((queue) => those?.get(keyOf(source, queue)) ?? NOTHING))
}

function keyOf({ unit, codec }: Source, queue: string): string {
  return `${unit.prefix} ${codec.name} asks ${queue}`
}

/** What is in vain is asked again later. */
function begin(source: Source, queue: string, questions: readonly Question[]): void {
  const { runtime } = source.unit
  const those = asking.get(runtime) ?? new Map<string, Promise<unknown>>()
  asking.set(runtime, those)
  const key = keyOf(source, queue)
  const send = (items: Question[]): Promise<null[]> => askOne(source, queue, items)
  const bytes = questions.reduce((sum, { id }) => sum + id.length, 0)
  const answered = runtime.batcher<Question, null>(key, QUESTIONS, send).add(questions, bytes)
  // Their results are not kept: it may go on like this for ever.
  const all = Promise.allSettled([those.get(key) ?? NOTHING, answered])
    .then(() => null)
    .finally(() => {
      if (those.get(key) === all) those.delete(key)
    })
  those.set(key, all)
}

async function askOne(source: Source, queue: string, questions: readonly Question[]): Promise<null[]> {
  const other = source.sibling(queue)
  const wanted = [...new Set(questions.map(({ id }) => id))]
  const told = await learnTold(other.unit)
  const { chores, absent } = await other.unit.run(watch, { target: source.address, ...told, wanted })
  void other.chores.see(chores)
  const isAbsent = new Set(absent)
  const news = questions
    .filter(({ id }) => isAbsent.has(id))
    .map(({ id, newest }) => ({ number: newest, what: Buffer.from(`a${id}`) }))
  if (news.length > 0) {
    // What they came to may be on its way still: it counts, and so it comes first.
    if ((chores & CHORES.deliver) !== 0) await bringTo(other, source.address)
    await hand(other, source.address, news)
  }
  return questions.map(() => null)
}
