// What a queue is, in plain memory.

import {
  backoffOf,
  bytesOf,
  type Job,
  maxAttemptsOf,
  newJob,
  type Spec,
  type State,
  whyNot,
} from './queue-job.ts'
import { Names } from './queue-names.ts'
import { Places } from './queue-places.ts'

export type Claim = readonly [number: number, token: number]
export type Refused = [at: number, why: string]

export class QueueModel {
  nowUs: number
  readonly settings = { paused: false, concurrency: 0, keepCount: 0 }
  readonly counts = { enqueued: 0, acked: 0, retried: 0, buried: 0, reclaimed: 0, cancelled: 0 }
  readonly places: Places = new Places()
  readonly #jobs = new Map<number, Job>()
  readonly #names = new Names()
  #last = 0
  #token = 0

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  get nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  in(...states: State[]): Job[] {
    return [...this.#jobs.values()].filter(({ state }) => states.includes(state))
  }

  /** Every job, and every job with its bytes. */
  bytesIn(...states: State[]): number {
    return this.in(...states).reduce((sum, job) => sum + bytesOf(job), 0)
  }

  /** The first number. */
  enqueueAlike(payloads: readonly string[]): number {
    const first = this.#numbers(payloads.length)
    for (const [at, payload] of payloads.entries()) this.#add(newJob(first + at, payload, null), 0)
    return first
  }

  /** The first number, and the duplicates. */
  enqueue(specs: readonly Spec[]): [number, [number, number][]] {
    const first = this.#numbers(specs.length)
    const duplicates: [number, number][] = []
    for (const [at, spec] of specs.entries()) {
      const other = this.#names.holderOf(spec, this.nowMs)
      if (other === undefined) {
        const job = newJob(first + at, spec.payload, spec)
        this.#names.hold(job, spec, this.nowMs)
        this.#add(job, spec.delay_ms)
      } else {
        duplicates.push([at, other])
        if (spec.replace) this.#replace(this.#jobs.get(other), spec)
      }
    }
    return [first, duplicates]
  }

  ack(acks: readonly Claim[]): Refused[] {
    const said = new Map<number, string>()
    const ended: Job[] = []
    const refused = acks.flatMap(([number, token], at): Refused[] => {
      const job = this.#jobs.get(number)
      const why = said.get(number) ?? whyNot(job, token)
      if (job !== undefined && (why === null || why === 'cancelled')) said.set(number, why ?? 'acked')
      if (why === null && job !== undefined) ended.push(job)
      return why === null ? [] : [[at, why]]
    })
    for (const [number, why] of said) if (why === 'cancelled') this.#stop(this.#jobs.get(number))
    for (const job of ended) this.#finish(job)
    if (ended.length > 0) this.#dropDone()
    return refused
  }

  /** Jobs that are claimed now, in their order. */
  claim(limit: number, leaseMs: number): Job[] {
    if (limit === 0) return []
    this.#reclaim()
    this.#showDue()
    const { paused, concurrency } = this.settings
    const free = concurrency === 0 ? limit : concurrency - this.in('claimed', 'stopping').length
    const taken = paused || free <= 0 ? [] : this.places.take(Math.min(limit, free))
    return taken.flatMap(({ number }) => this.#lease(this.#jobs.get(number), leaseMs))
  }

  retry(claims: readonly Claim[], delayMs: number): { refused: Refused[]; buried: number[] } {
    const buried: number[] = []
    const refused = this.#judge(claims, (job, at) => {
      this.places.free(job)
      if (job.attempts >= maxAttemptsOf(job)) {
        buried.push(at)
        return this.#bury(job)
      }
      this.counts.retried += 1
      this.#wait(job, delayMs < 0 ? backoffOf(job) : delayMs)
    })
    return { refused, buried }
  }

  bury(claims: readonly Claim[]): Refused[] {
    return this.#judge(claims, (job) => {
      this.places.free(job)
      this.#bury(job)
    })
  }

  extend(claims: readonly Claim[], leaseMs: number): Refused[] {
    return claims.flatMap(([number, token], at): Refused[] => {
      const job = this.#jobs.get(number)
      const why = whyNot(job, token)
      if (why !== null) return [[at, why]]
      if (job !== undefined) job.atMs = this.nowMs + leaseMs
      return []
    })
  }

  cancel(numbers: readonly number[]): string[] {
    return numbers.map((number) => {
      const job = this.#jobs.get(number)
      if (job === undefined) return 'absent'
      const isClaimed = job.state === 'claimed' || job.state === 'stopping'
      if (isClaimed) job.state = 'stopping'
      else this.#erase(job)
      return isClaimed ? 'stopping' : 'cancelled'
    })
  }

  requeue(numbers: readonly number[]): string[] {
    return numbers.map((number) => {
      const job = this.#jobs.get(number)
      if (job === undefined) return 'absent'
      if (job.state === 'ready') return 'ready'
      if (job.state === 'claimed' || job.state === 'stopping') return 'claimed'
      this.#beginAgain(job)
      return 'requeued'
    })
  }

  /** All that are dead, of the one kind of failure that workers name, or of being lost. */
  requeueFailed(numbers: readonly number[], drops: boolean): void {
    for (const number of numbers) {
      const job = this.#jobs.get(number)
      if (job !== undefined) drops ? this.#erase(job) : this.#beginAgain(job)
    }
  }

  reprioritize(numbers: readonly number[], priority: number): string[] {
    return numbers.map((number) => {
      const job = this.#jobs.get(number)
      if (job === undefined) return 'absent'
      if (job.state === 'claimed' || job.state === 'stopping') return 'claimed'
      if (job.priority !== priority) this.#prioritize(job, priority)
      return 'changed'
    })
  }

  #numbers(count: number): number {
    const first = Math.max(this.#last + 1, this.nowUs)
    this.#last = first + count - 1
    return first
  }

  #add(job: Job, delayMs: number): void {
    this.#jobs.set(job.number, job)
    this.counts.enqueued += 1
    if (delayMs > 0) this.#wait(job, delayMs)
    else this.places.stand(job)
  }

  #wait(job: Job, delayMs: number): void {
    job.hasRun = true
    job.isLost = false
    job.atMs = this.nowMs + delayMs
    job.state = delayMs > 0 ? 'scheduled' : 'ready'
    if (delayMs <= 0) this.places.stand(job)
  }

  #replace(job: Job | undefined, spec: Spec): void {
    if (job === undefined || job.attempts > 0) return
    const { id = '', unique = '', until = 'd' } = job.spec ?? {}
    const stays =
      job.state === 'ready' &&
      spec.delay_ms === 0 &&
      job.group === spec.group &&
      job.priority === spec.priority
    if (!stays) this.places.leave(job)
    Object.assign(job, { spec: { ...spec, id, unique, until }, isFull: true })
    Object.assign(job, { payload: spec.payload, group: spec.group, priority: spec.priority })
    if (stays) return
    Object.assign(job, { token: 0, hasRun: false, state: 'ready' })
    if (spec.delay_ms > 0) this.#wait(job, spec.delay_ms)
    else this.places.stand(job)
  }

  #reclaim(): void {
    const lost = this.in('claimed', 'stopping').filter(({ atMs }) => atMs <= this.nowMs)
    for (const job of lost.toSorted(byTime).toReversed()) {
      this.places.free(job)
      if (job.state === 'stopping') {
        this.#erase(job)
        continue
      }
      this.counts.reclaimed += 1
      if (job.attempts >= maxAttemptsOf(job)) this.#bury(job)
      else {
        Object.assign(job, { state: 'ready', isLost: true })
        this.places.stand(job, true)
      }
    }
  }

  #showDue(): void {
    const due = this.in('scheduled').filter(({ atMs }) => atMs <= this.nowMs)
    for (const job of due.toSorted(byTime)) {
      job.state = 'ready'
      this.places.stand(job)
    }
  }

  #lease(job: Job | undefined, leaseMs: number): Job[] {
    if (job === undefined) return []
    this.#token = Math.max(this.#token + 1, this.nowUs)
    job.attempts += 1
    Object.assign(job, { state: 'claimed', hasRun: true, isLost: false, token: this.#token })
    job.atMs = this.nowMs + leaseMs
    this.#names.freeUnique(job, false)
    return [job]
  }

  #judge(claims: readonly Claim[], apply: (job: Job, at: number) => void): Refused[] {
    return claims.flatMap(([number, token], at): Refused[] => {
      const job = this.#jobs.get(number)
      const why = whyNot(job, token)
      if (why === 'cancelled') this.#stop(job)
      if (why === null && job !== undefined) apply(job, at)
      return why === null ? [] : [[at, why]]
    })
  }

  #stop(job: Job | undefined): void {
    if (job === undefined) return
    this.places.free(job)
    this.#erase(job)
  }

  #erase(job: Job): void {
    this.places.leave(job)
    this.#remove(job)
    this.counts.cancelled += 1
  }

  #remove(job: Job): void {
    this.#jobs.delete(job.number)
    this.#names.freeAll(job)
  }

  #finish(job: Job): void {
    this.places.free(job)
    this.counts.acked += 1
    if (this.settings.keepCount === 0) return this.#remove(job)
    Object.assign(job, { state: 'done', atMs: this.nowMs })
    this.#names.freeUnique(job, true)
  }

  #dropDone(): void {
    const done = this.in('done').toSorted(byTime)
    for (const job of done.slice(0, Math.max(0, done.length - this.settings.keepCount))) this.#remove(job)
  }

  #bury(job: Job): void {
    Object.assign(job, { state: 'dead', atMs: this.nowMs })
    this.counts.buried += 1
    this.#names.freeUnique(job, true)
  }

  #beginAgain(job: Job): void {
    Object.assign(job, { state: 'ready', attempts: 0, hasRun: true, isLost: false })
    this.places.stand(job)
  }

  #prioritize(job: Job, priority: number): void {
    if (job.state === 'ready') this.places.leave(job)
    Object.assign(job, { priority, isFull: true })
    if (job.state === 'ready') this.places.stand(job)
  }
}

function byTime(one: Job, other: Job): number {
  return one.atMs - other.atMs || one.number - other.number
}
