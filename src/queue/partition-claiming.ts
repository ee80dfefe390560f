// Claims by hand from all partitions: one is asked after the other, each time beginning with another one, and whoever
// waits is called by any of them.

import { Joined } from '../runtime/aborts.ts'
import { openWithin, rest, unlessAborted } from '../runtime/in-time.ts'
import { lastWord } from '../runtime/last-word.ts'
import type { Post } from '../runtime/mailbox.ts'
import { closed } from '../runtime/runner.ts'
import { learnTold } from '../runtime/told.ts'
import { toWaitMs, type Waiting } from '../runtime/wait.ts'
import type { ClaimedJob } from './claimed-job.ts'
import { toClaimedJobs } from './claimed-jobs.ts'
import { type ClaimTerms, giveBackIfClosed } from './claiming.ts'
import { exchange } from './exchange.ts'
import { type LentJobs, toLentJob } from './lending.ts'
import { onlyFitting } from './misfits.ts'
import { Settler, toAck } from './settling.ts'
import type { Source } from './source.ts'

const RECHECK_MS = 10_000
const RECHECK_UNHEARD_MS = 500

interface Asked {
  readonly jobs: ClaimedJob[]
  /** When the first of the leases ends, by the server's clock. */
  readonly endsAtMs: number
  /** When to look again at the latest; 0: it need not be. */
  readonly recheckMs: number
}

interface Turn {
  /** Who is to be called; empty: nobody. */
  readonly worker: string
  readonly done: readonly ClaimedJob[]
  readonly signal: AbortSignal | undefined
}

export class PartitionClaims {
  readonly #sources: readonly Source[]
  #turn: number

  constructor(sources: readonly Source[]) {
    this.#sources = sources
    this.#turn = Math.floor(Math.random() * sources.length)
  }

  /** Resolves to none when there was none for `wait`; acks those that are done first. Throws the signal's reason. */
  async claim(terms: ClaimTerms, waiting: Waiting, done: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
    const { jobs } = await this.#claim(terms, waiting, done)
    return jobs
  }

  /** As `claim`, for somebody else. Throws the signal's reason, and what the codec throws when it cannot read a payload. */
  async lend(terms: ClaimTerms, waiting: Waiting): Promise<LentJobs> {
    const { jobs, endsAtMs } = await this.#claim(terms, waiting, [])
    return { jobs: jobs.map(toLentJob), leaseMs: terms.leaseMs, expiresAtMs: endsAtMs }
  }

  async #claim(terms: ClaimTerms, waiting: Waiting, done: readonly ClaimedJob[]): Promise<Asked> {
    const waitMs = toWaitMs(waiting)
    const { signal } = waiting
    signal?.throwIfAborted()
    if (this.#sources[0]?.unit.runtime.runner.closed) throw closed()
    const asked = await this.#askInTurn(terms, { worker: '', done, signal })
    if (asked.jobs.length > 0 || waitMs === 0) return asked
    const endsAt = performance.now() + waitMs
    const id = this.#sources[0]?.unit.runtime.mailbox.newId() ?? ''
    const posts = await this.#listen(id, endsAt, signal)
    try {
      return await this.#askOrSleep(terms, { id, posts, endsAt, signal })
    } finally {
      for (const post of posts ?? []) post.close()
      await this.#leave(id, signal)
    }
  }

  async #askOrSleep(
    terms: ClaimTerms,
    {
      id,
      posts,
      endsAt,
      signal,
    }: { id: string; posts: Post[] | null; endsAt: number; signal?: AbortSignal | undefined },
  ): Promise<Asked> {
    const { deadlines } = (this.#sources[0] as Source).unit.runtime.runner
    for (;;) {
      const asked = await this.#askInTurn(terms, { worker: id, done: [], signal })
      const { jobs, recheckMs } = asked
      const leftMs = Math.ceil(endsAt - performance.now())
      if (jobs.length > 0 || leftMs <= 0) return asked
      const longest = posts === null ? RECHECK_UNHEARD_MS : RECHECK_MS
      const ms = Math.min(leftMs, longest, recheckMs === 0 ? Infinity : recheckMs)
      await (posts === null ? rest(ms, deadlines, signal) : anyOf(posts, ms, signal))
    }
  }

  /** Rejects with the signal's reason: jobs that were claimed for a caller who has gone are for others. */
  #askInTurn(terms: ClaimTerms, turn: Turn): Promise<Asked> {
    return unlessAborted(this.#askAll(terms, turn), turn.signal, ({ jobs }) =>
      Promise.allSettled(jobs.map((job) => job.release())),
    )
  }

  /** A partition that does not answer does not keep the others from it; where none gives any, it is told. */
  async #askAll(terms: ClaimTerms, { worker, done, signal }: Turn): Promise<Asked> {
    const jobs: ClaimedJob[] = []
    const rechecks: number[] = []
    const ends: number[] = []
    const failures: unknown[] = []
    for (const source of this.#inTurn()) {
      const acks = done.filter((job) => job.partition === source.partition)
      const limit = terms.limit - jobs.length
      if (signal?.aborted || (limit === 0 && acks.length === 0)) continue
      try {
        const asked = await ask(source, { ...terms, limit }, worker, acks)
        jobs.push(...asked.jobs)
        if (limit > 0) ends.push(asked.endsAtMs)
        if (asked.recheckMs > 0) rechecks.push(asked.recheckMs)
      } catch (error) {
        failures.push(error)
      }
    }
    if (jobs.length === 0 && failures.length > 0) throw failures[0]
    const endsAtMs = Math.min(...(jobs.length === 0 ? ends : jobs.map(({ expiresAtMs }) => expiresAtMs)))
    return { jobs, endsAtMs, recheckMs: rechecks.length === 0 ? 0 : Math.min(...rechecks) }
  }

  #inTurn(): Source[] {
    this.#turn = (this.#turn + 1) % this.#sources.length
    return [...this.#sources.slice(this.#turn), ...this.#sources.slice(0, this.#turn)]
  }

  /** Null where listening is forbidden, or takes too long. Partitions may share a channel. */
  async #listen(id: string, endsAt: number, signal: AbortSignal | undefined): Promise<Post[] | null> {
    const told = await Promise.all(this.#sources.map(({ unit }) => learnTold(unit)))
    const channels = [...new Set(told.map(({ channel }) => channel))]
    const { mailbox } = (this.#sources[0] as Source).unit.runtime
    const leftMs = endsAt - performance.now()
    const opening = channels.map((channel) => openWithin(mailbox.expect(channel, id), leftMs, signal))
    const opened = await Promise.allSettled(opening)
    const posts = opened.flatMap((each) => (each.status === 'fulfilled' ? (each.value ?? []) : []))
    if (posts.length === channels.length) return posts
    for (const post of posts) post.close()
    signal?.throwIfAborted()
    return null
  }

  /** Nobody must be called in vain. */
  #leave(worker: string, signal: AbortSignal | undefined): Promise<void> {
    const nothing = { acks: [], limit: 0, leaseMs: 0, worker }
    const leaving = Promise.allSettled(this.#sources.map((source) => exchange(source, nothing)))
    return lastWord(leaving, (this.#sources[0] as Source).unit.runtime.runner, signal)
  }
}

/** Asks again as long as all that came does not fit. */
async function ask(
  source: Source,
  terms: ClaimTerms,
  worker: string,
  done: readonly ClaimedJob[],
): Promise<Asked> {
  const held = done.filter(({ isClaimed }) => isClaimed)
  let acks = held.map((job) => toAck(job, undefined, source))
  for (;;) {
    const exchanged = await exchange(source, { ...terms, acks, worker: terms.limit > 0 ? worker : '' })
    for (const [at] of acks.entries()) held[at]?.noteAcked(exchanged.refused.get(at) ?? null)
    acks = []
    const claimed = toClaimedJobs(source, new Settler(source), exchanged)
    await giveBackIfClosed(source, claimed)
    const jobs = await onlyFitting(source.checks, claimed)
    if (jobs.length > 0 || claimed.length === 0) {
      return { jobs, endsAtMs: exchanged.endsAtMs, recheckMs: exchanged.recheckMs }
    }
  }
}

/** Resolves when one has a letter, or after `ms`. Rejects with the signal's reason. */
async function anyOf(posts: readonly Post[], ms: number, signal: AbortSignal | undefined): Promise<void> {
  const enough = new Joined(signal === undefined ? [] : [signal])
  const waits = posts.map((post) => post.next(ms, enough.signal))
  for (const wait of waits) wait.catch(() => undefined)
  try {
    await Promise.race(waits)
  } finally {
    enough.abort(new Error('another one has a letter'))
  }
}
