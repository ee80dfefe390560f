// Getting a value that has to be loaded: by this process, or by another one that is at it.
//
//   elect ──elected──► perform (see performing.ts)
//     ▲ │ ──found──► somebody stored it meanwhile
//     │ │ ──failed──► the load that this one waited for has failed
//     │ │ ──loading──► listen, ask again under the same id, then wait for a letter, or the end of the lease
//     └─┴──────────────────┘
//
// The id makes an election safe to repeat. Whoever refreshes what may still be served does not wait.

import { type ElectAnswer, elect } from '../generated/cache.ts'
import { LoadFailedError } from '../runtime/errors/errors.ts'
import { askingAt, toGrant } from '../runtime/keeper/grant.ts'
import { longestSleepMs } from '../runtime/subscriptions/ear.ts'
import { rest, within } from '../runtime/time/in-time.ts'
import type { Post } from '../runtime/subscriptions/mailbox.ts'
import { didNotHappen, isOutage } from '../runtime/errors/outage.ts'
import { learnTold } from '../runtime/waiting/told.ts'
import { Envelope } from './envelope.ts'
import type { Loader } from './loader.ts'
import { readTags } from './looking.ts'
import type { Span } from './options.ts'
import type { Joinable, LoadOutcome, Outcome } from './outcome.ts'
import { perform } from './performing.ts'
import { type Election, expectToRead, giveUp } from './saving.ts'
import { decodeValue, resourceOf, type Source, UNDECODABLE, unitOf, valueKeyOf } from './source.ts'

export interface LoadTerms<Value> {
  readonly key: string
  readonly loader: Loader<Value>
  readonly span: Span
  readonly tags: readonly string[]
  /** Their generations, read just now. */
  readonly block: Buffer
  /** Token of the value that is to be replaced; 0: there is none. */
  readonly seen: number
  /** When the waiting for another process ends, by `performance.now()`; 0: it does not wait. */
  readonly endsAt: number
  /** In place of the loader: somebody else will load. */
  readonly lend?: (election: Election) => void
  /** Called when another process loads, or there is nothing to load. */
  passed(): void
  /** Called before what was found is stored: whoever wants it from then on may know of an invalidation since. */
  storing(): void
}

const RECHECKS = { heardMs: 5000, unheardMs: 250 }
const OPENING_MS = 1000

/** One load that this process wants; others in the process may join it. */
export class Load<Value> implements Joinable<Value> {
  readonly #source: Source<Value>
  readonly #terms: LoadTerms<Value>
  readonly #id: string
  #post: Post | null = null
  #listened = false
  #waited = 0
  /** Rejects when the server cannot decide. */
  readonly outcome: Promise<LoadOutcome<Value>>

  constructor(source: Source<Value>, terms: LoadTerms<Value>) {
    this.#source = source
    this.#terms = terms
    this.#id = source.runtime.mailbox.newId()
    this.outcome = this.#run()
  }

  async #run(): Promise<LoadOutcome<Value>> {
    try {
      return await this.#untilSettled()
    } finally {
      this.#post?.close()
      this.#terms.passed()
    }
  }

  async #untilSettled(): Promise<LoadOutcome<Value>> {
    const { endsAt, tags } = this.#terms
    for (let { block } = this.#terms; ; block = await readTags(this.#source, tags)) {
      const askedAt = askingAt()
      const answer = await this.#elect(block)
      this.#source.runtime.clock.note(answer.nowMs, askedAt)
      if (answer.status === 'elected') return await this.#perform(answer, block, askedAt)
      this.#terms.passed()
      if (answer.status === 'found') return this.#found(answer.envelope)
      if (answer.status === 'failed') return this.#failed(answer.reason)
      if (answer.status === 'resting' || endsAt === 0) return { status: 'elsewhere', ms: answer.retryAfterMs }
      if (performance.now() >= endsAt) return { status: 'late' }
      this.#waited = answer.token
      await this.#waitFor(answer.retryAfterMs)
    }
  }

  async #elect(tags: Buffer): Promise<ElectAnswer> {
    const { codec, terms } = this.#source
    const unit = unitOf(this.#source, this.#terms.key)
    const args = {
      id: this.#id,
      codec: codec.name,
      leaseMs: terms.leaseMs,
      seen: this.#terms.seen,
      waited: this.#waited,
      waits: this.#post !== null,
      tags,
    }
    try {
      return await unit.run(elect, args, { by: performance.now() + terms.storeMs })
    } catch (error) {
      const { key } = this.#terms
      if (!didNotHappen(error)) abandon(this.#source, key, this.#id)
      // The script may have ended in its middle, for a right is missing.
      else if (!isOutage(error)) giveUp(this.#source, key, this.#id, '').catch(() => undefined)
      throw error
    }
  }

  #perform(
    answer: Extract<ElectAnswer, { status: 'elected' }>,
    tags: Buffer,
    askedAt: number,
  ): Promise<Outcome<Value>> {
    const { key, span, loader, storing, seen } = this.#terms
    const election = { key, id: this.#id, grant: toGrant(answer, askedAt), tags, span, replaces: seen > 0 }
    if (this.#terms.lend !== undefined) {
      this.#terms.lend(election)
      return Promise.resolve({ status: 'lost' })
    }
    return perform(this.#source, election, { loader, storing })
  }

  /** The server has judged it: it may be served, and nobody who asks now knows of an invalidation since. */
  #found(bytes: Buffer): Outcome<Value> {
    const envelope = new Envelope(bytes)
    expectToRead(this.#source, this.#terms.key, { payload: bytes })
    // Whoever has seen it sees nothing older any more.
    this.#source.shared.level?.note(valueKeyOf(this.#source, this.#terms.key), envelope.token)
    const value = decodeValue(this.#source, this.#terms.key, envelope)
    return value === UNDECODABLE ? { status: 'lost' } : { status: 'loaded', value, holds: false }
  }

  #failed(reason: string): Outcome<Value> {
    return { status: 'failed', error: new LoadFailedError(resourceOf(this.#source, this.#terms.key), reason) }
  }

  /** At first it only begins to listen, and asks again at once: what happened before that is told to nobody. */
  async #waitFor(retryAfterMs: number): Promise<void> {
    if (!this.#listened) {
      this.#listened = true
      this.#post = await this.#listen()
      if (this.#post !== null) return
    }
    const longest = longestSleepMs(this.#post, RECHECKS)
    const leftMs = this.#terms.endsAt - performance.now()
    const ms = Math.max(1, Math.ceil(Math.min(longest, retryAfterMs + 1, leftMs)))
    if (this.#post === null) await rest(ms, this.#source.runtime.runner.deadlines)
    else await this.#post.next(ms)
  }

  /** Null when the process cannot listen. */
  async #listen(): Promise<Post | null> {
    const { mailbox } = this.#source.runtime
    const told = learnTold(unitOf(this.#source, this.#terms.key))
    const opening = told.then(({ channel }) => mailbox.expect(channel, this.#id))
    const leftMs = this.#terms.endsAt - performance.now()
    try {
      return await within(opening, Math.max(1, Math.min(leftMs, OPENING_MS)))
    } catch {
      // Came too late: nobody will use it.
      opening.then((post) => post.close()).catch(() => undefined)
      return null
    }
  }
}

/** The election may have happened, or may happen yet: nobody would load. Keeps nothing of the load itself. */
function abandon<Value>(source: Source<Value>, key: string, id: string): void {
  const say = (): Promise<unknown> => giveUp(source, key, id, '')
  const node = (): string => unitOf(source, key).node
  source.runtime.mailbox.abandoned.add(id, { say, node, mayComeLate: true })
}
