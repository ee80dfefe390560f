// The life of the jobs of the model, one by one.

import { bytesOf, type Job, maxAttemptsOf, type Spec, type State, whyNot } from './queue-job.ts'
import { Names } from './queue-names.ts'
import { Places } from './queue-places.ts'

export type Claim = readonly [number: number, token: number]
export type Refused = [at: number, why: string]

interface Settings {
  paused: boolean
  concurrency: number
  retentionCount: number
}

type Counts = Record<'enqueued' | 'acked' | 'retried' | 'failed' | 'reclaimed' | 'cancelled', number>

export class QueueLife {
  nowUs: number
  readonly settings: Settings = { paused: false, concurrency: 0, retentionCount: 0 }
  readonly counts: Counts = { enqueued: 0, acked: 0, retried: 0, failed: 0, reclaimed: 0, cancelled: 0 }
  readonly places: Places = new Places()
  protected readonly jobs: Map<number, Job> = new Map<number, Job>()
  protected readonly names: Names = new Names()
  protected last = 0
  protected token = 0

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  get nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  in(...states: State[]): Job[] {
    return [...this.jobs.values()].filter(({ state }) => states.includes(state))
  }

  /** Every job, and every job with its bytes. */
  bytesIn(...states: State[]): number {
    return this.in(...states).reduce((sum, job) => sum + bytesOf(job), 0)
  }

  protected numbersOf(count: number): number {
    const first = Math.max(this.last + 1, this.nowUs)
    this.last = first + count - 1
    return first
  }

  protected add(job: Job, delayMs: number): void {
    this.jobs.set(job.number, job)
    this.counts.enqueued += 1
    if (delayMs > 0) this.wait(job, delayMs)
    else this.places.stand(job)
  }

  protected wait(job: Job, delayMs: number): void {
    job.hasRun = true
    job.isLost = false
    job.atMs = this.nowMs + delayMs
    job.state = delayMs > 0 ? 'scheduled' : 'ready'
    if (delayMs <= 0) this.places.stand(job)
  }

  protected replace(job: Job | undefined, spec: Spec): void {
    if (job === undefined || job.attempts > 0) return
    const { id = '', unique = '', until = 'd' } = job.spec ?? {}
    const stays =
      job.state === 'ready' &&
      spec.delay_ms === 0 &&
      job.group === spec.group &&
      job.priority === spec.priority
    if (!stays) this.places.leave(job)
    Object.assign(job, { spec: { ...spec, id, unique, until }, isFull: true })
    Object.assign(job, { payload: spec.payload, group: spec.group, priority: spec.priority, tags: spec.tags })
    if (stays) return
    Object.assign(job, { isLost: false, state: 'ready' })
    if (spec.delay_ms > 0) this.wait(job, spec.delay_ms)
    else this.places.stand(job)
  }

  protected reclaim(): void {
    const lost = this.in('claimed', 'stopping').filter(({ atMs }) => atMs <= this.nowMs)
    for (const job of lost.toSorted(byTime).toReversed()) {
      this.places.free(job)
      if (job.state === 'stopping') {
        this.erase(job)
        continue
      }
      this.counts.reclaimed += 1
      if (job.attempts >= maxAttemptsOf(job)) this.die(job)
      else {
        Object.assign(job, { state: 'ready', isLost: true })
        this.places.stand(job, true)
      }
    }
  }

  protected showDue(): void {
    const due = this.in('scheduled').filter(({ atMs }) => atMs <= this.nowMs)
    for (const job of due.toSorted(byTime)) {
      job.state = 'ready'
      this.places.stand(job)
    }
  }

  /** A waiting worker records the time. */
  noteTime(): void {
    this.token = Math.max(this.token, this.nowUs - 1)
  }

  protected lease(job: Job | undefined, leaseMs: number): Job[] {
    if (job === undefined) return []
    this.token = Math.max(this.token + 1, this.nowUs)
    job.attempts += 1
    Object.assign(job, { state: 'claimed', hasRun: true, isLost: false, token: this.token })
    job.atMs = this.nowMs + leaseMs
    this.names.freeUnique(job, false)
    return [job]
  }

  protected judge(claims: readonly Claim[], apply: (job: Job, at: number) => void): Refused[] {
    return claims.flatMap(([number, token], at): Refused[] => {
      const job = this.jobs.get(number)
      const why = whyNot(job, token)
      if (why === 'cancelled') this.stop(job)
      if (why === null && job !== undefined) apply(job, at)
      return why === null ? [] : [[at, why]]
    })
  }

  protected stop(job: Job | undefined): void {
    if (job === undefined) return
    this.places.free(job)
    this.erase(job)
  }

  protected erase(job: Job): void {
    this.places.leave(job)
    this.remove(job)
    this.counts.cancelled += 1
  }

  protected remove(job: Job): void {
    this.jobs.delete(job.number)
    this.names.freeAll(job)
  }

  protected finish(job: Job): void {
    this.places.free(job)
    this.counts.acked += 1
    if (this.settings.retentionCount === 0) return this.remove(job)
    Object.assign(job, { state: 'done', atMs: this.nowMs })
    this.names.freeUnique(job, true)
  }

  protected dropDone(): void {
    const done = this.in('done').toSorted(byTime)
    for (const job of done.slice(0, Math.max(0, done.length - this.settings.retentionCount))) this.remove(job)
  }

  protected die(job: Job): void {
    Object.assign(job, { state: 'dead', atMs: this.nowMs })
    this.counts.failed += 1
    this.names.freeUnique(job, true)
  }

  protected beginAgain(job: Job): void {
    Object.assign(job, { state: 'ready', attempts: 0, hasRun: true, isLost: false })
    this.places.stand(job)
  }

  protected prioritize(job: Job, priority: number): void {
    if (job.state === 'ready') this.places.leave(job)
    Object.assign(job, { priority, isFull: true })
    if (job.state === 'ready') this.places.stand(job)
  }
}

function byTime(one: Job, other: Job): number {
  return one.atMs - other.atMs || one.number - other.number
}
