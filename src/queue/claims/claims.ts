// Claims by hand: for callers that settle and extend their jobs themselves. Partitions take turns, and any of them
// can wake up the caller. A queue without partitions is treated as one partition.

import { brand } from '../../driver.ts'
import { lastWord } from '../../runtime/calls/last-word.ts'
import { closed, type Runner } from '../../runtime/calls/runner.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { toLeaseMs } from '../../runtime/leases/lease-options.ts'
import { Ears } from '../../runtime/subscriptions/ear.ts'
import type { Mailbox, Post } from '../../runtime/subscriptions/mailbox.ts'
import { Joined } from '../../runtime/time/aborts.ts'
import { type Opening, openWithin } from '../../runtime/subscriptions/open-within.ts'
import { unlessAborted } from '../../runtime/time/in-time.ts'
import { InTurn, isSoon, PATIENCE_MS } from '../../runtime/time/in-turn.ts'
import { checkInteger } from '../../runtime/values/arguments.ts'
import type { Duration } from '../../runtime/values/duration.ts'
import { type Look, lookOrSleep, type Waker } from '../../runtime/waiting/look-or-sleep.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import type { QueueSource } from '../source/source.ts'
import {
  type ClaimAnswer,
  claimFrom,
  giveBack,
  type JobClaimTerms,
  ClaimRound,
  type RoundTerms,
} from './claim.ts'
import { ClaimedJob } from './claimed-job.ts'
import { leaveInTheEnd } from './exchange.ts'

// Accepts jobs in `acks` that another copy of the library has claimed.
brand(ClaimedJob, 'ClaimedJob')

export interface JobClaimOptions extends Waiting {
  /** The most jobs to claim, 1 to 200; default 1. */
  limit?: number
  /** The lease of the jobs; it is not renewed automatically. Default 30 seconds. */
  lease?: Duration
  /**
   * Done jobs of this queue to ack in the same call, at most 200. Their `outcome` is null afterwards if they were
   * lost before.
   */
  acks?: readonly ClaimedJob[]
}

export const DETACHED_OPTIONS = ['limit', 'lease', 'wait', 'signal'] as const
export const CLAIM_OPTIONS: readonly string[] = [...DETACHED_OPTIONS, 'acks'] as const

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

export class JobClaims {
  readonly #sources: readonly QueueSource[]
  /** For what all sources have in common. */
  readonly #first: QueueSource
  readonly #inTurn: InTurn<QueueSource>

  constructor(sources: readonly QueueSource[]) {
    const [first] = sources as [QueueSource]
    this.#sources = sources
    this.#first = first
    this.#inTurn = new InTurn(sources, first.unit.runtime.runner.deadlineMs)
  }

  /** Acks first. Resolves to no jobs when there were none within `wait`. Throws the signal's reason. */
  async claim(options: JobClaimOptions): Promise<ClaimAnswer> {
    const done = this.#checkAcks(options.acks ?? [])
    const terms = toTerms(options)
    const waitMs = toWaitMs(options)
    const { signal } = options
    signal?.throwIfAborted()
    if (this.#runner.closed) throw closed()
    const first = await this.#ask(terms, { worker: '', done, waits: waitMs > 0, signal })
    if (first.jobs.length > 0 || waitMs === 0) return first
    const endsAt = performance.now() + waitMs
    const id = this.#first.unit.runtime.mailbox.newId()
    const opening = await this.#listen(id, endsAt, signal)
    let isHeard = false
    try {
      const last = await lookOrSleep(() => this.#look(terms, id, signal), {
        opening,
        endsAt,
        rechecks: RECHECKS,
        deadlines: this.#runner.deadlines,
        signal,
      })
      isHeard = true
      return last
    } finally {
      opening.close()
      // The server must not wake up a caller that has left. A server that is away is not waited for twice, a silent
      // one not long.
      const leaving = isSoon(Promise.all(this.#sources.map((source) => leaveInTheEnd(source, id))))
      if (isHeard) await lastWord(leaving, this.#runner, signal)
    }
  }

  get #runner(): Runner {
    return this.#first.unit.runtime.runner
  }

  async #look(
    terms: JobClaimTerms,
    worker: string,
    signal: AbortSignal | undefined,
  ): Promise<Look<ClaimAnswer>> {
    const value = await this.#ask(terms, { worker, done: [], waits: true, signal })
    return { value, found: value.jobs.length > 0, recheckMs: value.recheckMs }
  }

  /** Rejects with the signal's reason: then jobs that were claimed meanwhile are released. */
  #ask(terms: JobClaimTerms, turn: RoundTerms): Promise<ClaimAnswer> {
    const asking =
      this.#sources.length === 1 ? claimFrom(this.#first, terms, turn) : this.#askAll(terms, turn)
    return unlessAborted(asking, turn.signal, ({ jobs }) => giveBack(jobs))
  }

  /**
   * A partition that fails or does not answer does not delay the others. If no partition has jobs, its error is
   * thrown, unless the caller waits for the others. Acks are sent first: if one fails, its error is thrown, and the
   * claimed jobs are released.
   */
  async #askAll(terms: JobClaimTerms, turn: RoundTerms): Promise<ClaimAnswer> {
    const round = new ClaimRound(terms, turn)
    const parts = this.#inTurn.next()
    const acking = parts.filter((source) => round.acksFor(source).length > 0)
    if (acking.length > 0) await round.throwFailure(await this.#inTurn.askAll(acking, round.asking(true)))
    const others = parts.filter((source) => !acking.includes(source))
    const asking = { ...round.asking(false), comesAgain: turn.waits }
    return round.end(await this.#inTurn.askAll(others, asking))
  }

  /** Opens late when subscribing takes long, or is refused at first. Partitions may share a channel. */
  async #listen(id: string, endsAt: number, signal: AbortSignal | undefined): Promise<Opening<SharedPosts>> {
    const notifyChannels = await Promise.all(this.#sources.map(({ unit }) => learnNotifyChannel(unit)))
    const channels = [...new Set(notifyChannels.map(({ channel }) => channel))]
    const longest = this.#sources.length === 1 ? Infinity : PATIENCE_MS
    const leftMs = Math.min(endsAt - performance.now(), longest)
    const { mailbox } = this.#first.unit.runtime
    const reopening = mailbox.reopeningAt(...this.#sources.map(({ unit }) => unit.node))
    return openWithin(reopening, () => listenOn(channels, mailbox, id), leftMs, signal)
  }

  /** Throws InvalidArgumentError. */
  #checkAcks(acks: unknown): readonly ClaimedJob[] {
    const isList = Array.isArray(acks) && acks.length <= 200
    if (!isList || !acks.every((job) => job instanceof ClaimedJob)) {
      throw new InvalidArgumentError('acks', 'must be a list of at most 200 claimed jobs')
    }
    const foreign = acks.find((job) => !this.#sources.some(({ unit }) => unit.prefix === job.home))
    if (foreign !== undefined) {
      throw new InvalidArgumentError('acks', `must be jobs of this queue, which '${foreign.id}' is not`)
    }
    return acks
  }
}

function toTerms({ limit = 1, lease = '30s' }: JobClaimOptions): JobClaimTerms {
  return { limit: checkInteger('limit', limit, 1, 200), leaseMs: toLeaseMs(lease) }
}

// Letters for a waiting caller, from any of the partitions.

/** Receives the letters of all partitions. */
class SharedPosts extends Ears implements Waker {
  readonly #posts: readonly Post[]

  constructor(posts: readonly Post[]) {
    super(posts)
    this.#posts = posts
  }

  /** Resolves when one has a letter, or after `ms`. Rejects with the signal's reason. */
  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const [only, ...others] = this.#posts as readonly [Post, ...Post[]]
    if (others.length === 0) return void (await only.sleep(ms, signal))
    const enough = new Joined(signal ? [signal] : [])
    const sleeps = this.#posts.map((post) => post.sleep(ms, enough.signal))
    for (const sleep of sleeps) sleep.catch(() => undefined)
    try {
      await Promise.race(sleeps)
    } finally {
      enough.abort(new Error('another one has a letter'))
    }
  }

  close(): void {
    for (const post of this.#posts) post.close()
  }
}

/** Subscribes to all channels, or to none. */
async function listenOn(channels: readonly string[], mailbox: Mailbox, id: string): Promise<SharedPosts> {
  const opened = await Promise.allSettled(channels.map((channel) => mailbox.expect(channel, id)))
  const posts = new SharedPosts(opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])))
  if (opened.every(({ status }) => status === 'fulfilled')) return posts
  posts.close()
  throw new Error('could not subscribe to the channels of all partitions')
}
