// A queue in plain memory.

import { backoffOf, type Job, maxAttemptsOf, newJob, type Spec, whyNot } from './queue-job.ts'
import { type Claim, QueueLife, type Refused } from './queue-life.ts'

export class QueueModel extends QueueLife {
  /** The first number. */
  enqueueAlike(payloads: readonly string[]): number {
    const first = this.numbersOf(payloads.length)
    for (const [at, payload] of payloads.entries()) this.add(newJob(first + at, payload, null), 0)
    return first
  }

  /** The first number, and the duplicates. */
  enqueue(specs: readonly Spec[]): [number, [number, number][]] {
    const first = this.numbersOf(specs.length)
    const duplicates: [number, number][] = []
    for (const [at, spec] of specs.entries()) {
      const other = this.names.holderOf(spec, this.nowMs)
      if (other === undefined) {
        const job = newJob(first + at, spec.payload, spec)
        this.names.hold(job, spec, this.nowMs)
        this.add(job, spec.delay_ms)
      } else {
        duplicates.push([at, other])
        if (spec.replace) this.replace(this.jobs.get(other), spec)
      }
    }
    return [first, duplicates]
  }

  ack(acks: readonly Claim[]): Refused[] {
    const said = new Map<number, string>()
    const ended: Job[] = []
    const refused = acks.flatMap(([number, token], at): Refused[] => {
      const job = this.jobs.get(number)
      const why = whyNot(job, token) ?? said.get(number) ?? null
      if (job !== undefined && (why === null || why === 'cancelled')) said.set(number, why ?? 'acked')
      if (why === null && job !== undefined) ended.push(job)
      return why === null ? [] : [[at, why]]
    })
    for (const [number, why] of said) if (why === 'cancelled') this.stop(this.jobs.get(number))
    for (const job of ended) this.finish(job)
    if (ended.length > 0) this.dropDone()
    return refused
  }

  /** Jobs that are claimed now, in their order. */
  claim(limit: number, leaseMs: number): Job[] {
    if (limit === 0) return []
    this.reclaim()
    this.showDue()
    const { paused, concurrency } = this.settings
    const free = concurrency === 0 ? limit : concurrency - this.in('claimed', 'stopping').length
    const taken = paused || free <= 0 ? [] : this.places.take(Math.min(limit, free))
    return taken.flatMap(({ number }) => this.lease(this.jobs.get(number), leaseMs))
  }

  retry(claims: readonly Claim[], delayMs: number): { refused: Refused[]; dead: number[] } {
    const dead: number[] = []
    const refused = this.judge(claims, (job, at) => {
      this.places.free(job)
      if (job.attempts >= maxAttemptsOf(job)) {
        dead.push(at)
        this.die(job)
      } else {
        this.counts.retried += 1
        this.wait(job, delayMs < 0 ? backoffOf(job) : delayMs)
      }
    })
    return { refused, dead }
  }

  fail(claims: readonly Claim[]): Refused[] {
    return this.judge(claims, (job) => {
      this.places.free(job)
      this.die(job)
    })
  }

  extend(claims: readonly Claim[], leaseMs: number): Refused[] {
    return claims.flatMap(([number, token], at): Refused[] => {
      const job = this.jobs.get(number)
      const why = whyNot(job, token)
      if (why !== null) return [[at, why]]
      if (job !== undefined) job.atMs = this.nowMs + leaseMs
      return []
    })
  }

  cancel(numbers: readonly number[]): string[] {
    return numbers.map((number) => {
      const job = this.jobs.get(number)
      if (job === undefined) return 'absent'
      const isClaimed = job.state === 'claimed' || job.state === 'stopping'
      if (isClaimed) job.state = 'stopping'
      else this.erase(job)
      return isClaimed ? 'stopping' : 'cancelled'
    })
  }

  requeue(numbers: readonly number[]): string[] {
    return numbers.map((number) => {
      const job = this.jobs.get(number)
      if (job === undefined) return 'absent'
      if (job.state === 'ready') return 'ready'
      if (job.state === 'claimed' || job.state === 'stopping') return 'claimed'
      if (!this.names.holdAgain(job, this.nowMs)) return 'duplicate'
      this.beginAgain(job)
      return 'requeued'
    })
  }

  /** Requeues dead jobs, all of one kind: of the failure that workers name, or lost. Returns how many stay dead. */
  requeueDead(numbers: readonly number[], drops: boolean): number {
    let kept = 0
    for (const number of numbers) {
      const job = this.jobs.get(number)
      if (job === undefined) continue
      if (drops) this.erase(job)
      else if (this.names.holdAgain(job, this.nowMs)) this.beginAgain(job)
      else kept += 1
    }
    return kept
  }

  reprioritize(numbers: readonly number[], priority: number): string[] {
    return numbers.map((number) => {
      const job = this.jobs.get(number)
      if (job === undefined) return 'absent'
      if (job.state === 'claimed' || job.state === 'stopping') return 'claimed'
      if (job.priority !== priority) this.prioritize(job, priority)
      return 'changed'
    })
  }

  tag(number: number, tags: readonly string[], adds: boolean): unknown[] {
    const job = this.jobs.get(number)
    if (job === undefined) return ['absent']
    const before = job.tags === '' ? [] : job.tags.split('\0')
    const after = adds
      ? [...new Set([...before, ...tags])].join('\0')
      : before.filter((tag) => !tags.includes(tag)).join('\0')
    if (after !== job.tags) Object.assign(job, { tags: after, isFull: true })
    return ['tagged', after]
  }

  track(numbers: readonly number[], follows: boolean): string[] {
    return numbers.map((number) => {
      const job = this.jobs.get(number)
      if (job === undefined) return 'absent'
      if (follows) job.hasRun = true
      job.isTracked = follows
      return follows ? 'tracked' : 'untracked'
    })
  }
}
