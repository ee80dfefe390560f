// Random histories of jobs with dependencies: after each step every job is where the rules put it, at the end none
// waits for ever, and no data is left.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { type ClaimedJob, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { countOf, SEED, tell } from '../proof.ts'

type Policy = 'fail' | 'cancel' | 'run'
type Ended = 'done' | 'dead' | 'cancelled'
type State = 'ready' | 'blocked' | 'claimed' | 'dead' | 'absent'

type Step =
  | { do: 'enqueue'; dependencies: number[]; policy: Policy }
  | { do: 'claim'; limit: number }
  | { do: 'ack' | 'fail' | 'retry'; which: number }
  | { do: 'cancel' | 'requeue'; which: number }
  | { do: 'remove'; which: number; dependency: number }
  | { do: 'advance'; which: number; dependencies: number[]; policy: Policy }

interface Job {
  readonly id: string
  state: State
  readonly policy: Policy
  readonly waitsFor: Set<string>
}

const SIZES = `local sizes = {}
for at, key in ipairs(KEYS) do
  local counts = { hash = 'HLEN', zset = 'ZCARD', string = 'EXISTS' }
  sizes[at] = { key, redis.call(counts[redis.call('TYPE', key).ok], key) }
end
return sizes`
const client = new Redis(inject('redisPort'))
const redis = perilune(ioredis(client), { namespace: 'dependencies-model' })
afterAll(async () => {
  await redis.close()
  client.disconnect()
})

/** The rules as a model; dependents are notified of an end at once. */
class Model {
  readonly jobs = new Map<string, Job>()

  add(id: string, dependencies: readonly string[], policy: Policy): void {
    const job: Job = { id, state: 'ready', policy, waitsFor: new Set() }
    this.jobs.set(id, job)
    const ended: Ended[] = []
    for (const dependency of new Set(dependencies)) {
      const state = this.stateOf(dependency)
      if (state === 'dead') ended.push('dead')
      else if (state !== 'absent') job.waitsFor.add(dependency)
    }
    if (job.waitsFor.size > 0) job.state = 'blocked'
    for (const end of ended) this.#tell(job, end)
  }

  stateOf(id: string): State {
    return this.jobs.get(id)?.state ?? 'absent'
  }

  end(id: string, end: Ended): void {
    const job = this.jobs.get(id) as Job
    job.state = end === 'dead' ? 'dead' : 'absent'
    job.waitsFor.clear()
    for (const dependent of this.jobs.values()) {
      if (dependent.waitsFor.delete(id)) this.#tell(dependent, end)
    }
  }

  set(id: string, state: State): void {
    const job = this.jobs.get(id) as Job
    job.state = state
    if (state !== 'blocked') job.waitsFor.clear()
  }

  remove(id: string, dependency: string): void {
    const job = this.jobs.get(id)
    if (job?.state !== 'blocked') return
    job.waitsFor.delete(dependency)
    if (job.waitsFor.size === 0) job.state = 'ready'
  }

  #tell(job: Job, end: Ended): void {
    const mayGoOn = end === 'done' || job.policy === 'run'
    if (!mayGoOn) this.end(job.id, job.policy === 'fail' ? 'dead' : 'cancelled')
    else if (job.state === 'blocked' && job.waitsFor.size === 0) job.state = 'ready'
  }
}

class History {
  readonly #queue: Queue<{ work: number }>
  readonly #model = new Model()
  readonly #ids: string[] = []
  readonly #claimed = new Map<string, ClaimedJob<number>>()
  readonly #name = randomUUID()

  constructor() {
    this.#queue = redis.queue<{ work: number }>(this.#name)
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#take(step)
      await this.#compare(JSON.stringify(step))
    }
    await this.#drain()
  }

  async #take(step: Step): Promise<void> {
    if (step.do === 'enqueue') return this.#enqueue(step)
    if (step.do === 'claim') return this.#claim(step.limit)
    if (step.do === 'cancel' || step.do === 'requeue') return this.#change(step.do, this.#idOf(step.which))
    if (step.do === 'remove') return this.#remove(this.#idOf(step.which), this.#idOf(step.dependency))
    const jobs = [...this.#claimed.values()]
    const job = jobs[step.which % Math.max(1, jobs.length)]
    if (job !== undefined) await this.#settle(job, step)
  }

  async #enqueue({ dependencies, policy }: Extract<Step, { do: 'enqueue' }>): Promise<void> {
    const named = dependencies.map((at) => this.#idOf(at))
    const { id } = await this.#queue.enqueue('work', 1, { dependsOn: named, onDependencyFailure: policy })
    this.#note(id, named, policy)
  }

  #note(id: string, dependencies: readonly string[], policy: Policy): void {
    this.#ids.push(id)
    this.#model.add(id, dependencies, policy)
  }

  async #claim(limit: number): Promise<void> {
    const jobs = await this.#queue.claim({ limit, lease: '1h' })
    for (const job of jobs) {
      expect(this.#model.stateOf(job.id)).toBe('ready')
      this.#model.set(job.id, 'claimed')
      this.#claimed.set(job.id, job)
    }
  }

  async #settle(job: ClaimedJob<number>, step: Extract<Step, { which: number }>): Promise<void> {
    this.#claimed.delete(job.id)
    // It was cancelled meanwhile: a settling worker gets that answer, and the job is removed.
    const isStopping = this.#model.stateOf(job.id) === 'absent'
    const settled = this.#send(job, step)
    if (isStopping) return expect(settled).rejects.toThrow(/cancelled/)
    await settled
  }

  async #send(job: ClaimedJob<number>, step: Extract<Step, { which: number }>): Promise<void> {
    const { id } = job
    if (step.do === 'ack') await job.ack(id)
    else if (step.do === 'fail') await job.fail()
    else if (step.do === 'retry') await job.retry({ delay: '0ms' })
    else if (step.do === 'advance') return this.#advance(job, step)
    if (step.do === 'retry') this.#model.set(id, job.outcome === 'dead' ? 'dead' : 'ready')
    if (step.do === 'retry' && job.outcome === 'retried') return
    this.#model.end(id, step.do === 'ack' ? 'done' : 'dead')
  }

  async #advance(job: ClaimedJob<number>, step: Extract<Step, { do: 'advance' }>): Promise<void> {
    const dependencies = step.dependencies.map((at) => this.#idOf(at))
    const next = await job.ackAndEnqueue(
      { name: 'work', payload: 2, dependsOn: dependencies, onDependencyFailure: step.policy },
      job.id,
    )
    this.#model.end(job.id, 'done')
    this.#note(String(next.id), dependencies, step.policy)
  }

  async #change(what: 'cancel' | 'requeue', id: string): Promise<void> {
    const state = this.#model.stateOf(id)
    if (what === 'cancel') await this.#queue.jobs.cancel([id])
    else await this.#queue.jobs.requeue([id])
    if (what === 'requeue') {
      if (state === 'dead' || state === 'blocked') this.#model.set(id, 'ready')
    } else if (state === 'claimed') {
      await this.#stop(id)
    } else if (state !== 'absent') {
      this.#model.end(id, 'cancelled')
    }
  }

  /** A claimed job is removed when its worker learns of it. */
  async #stop(id: string): Promise<void> {
    const job = this.#claimed.get(id) as ClaimedJob<number>
    this.#claimed.delete(id)
    await expect(job.ack()).rejects.toThrow(/cancelled/)
    this.#model.end(id, 'cancelled')
  }

  async #remove(id: string, dependency: string): Promise<void> {
    await this.#queue.jobs.removeDependencies(id, [dependency])
    this.#model.remove(id, dependency)
  }

  async #compare(after: string): Promise<void> {
    if (this.#ids.length === 0) return
    const found = new Map((await this.#queue.jobs.getMany(this.#ids)).map(({ id, state }) => [id, state]))
    const states = this.#ids.map((id) => found.get(id) ?? 'absent')
    expect(states, after).toEqual(this.#ids.map((id) => this.#model.stateOf(id)))
  }

  /** A job with dependencies gets its turn when all of them are done. */
  async #drain(): Promise<void> {
    for (const job of this.#claimed.values()) await job.ack()
    for (let jobs = await this.#queue.claim({ limit: 200 }); jobs.length > 0; ) {
      jobs = await this.#queue.claim({ limit: 200, acks: jobs })
    }
    const dead = (await this.#queue.jobs.list('dead', { limit: 1000 })).jobs.map(({ id }) => id)
    if (dead.length > 0) await this.#queue.jobs.cancel(dead)
    expect(await this.#queue.settings.inspect()).toMatchObject({ ready: 0, blocked: 0, claimed: 0, dead: 0 })
    const left = await client.keys(`*${this.#name}*`)
    const sizes = await client.eval(SIZES, left.length, ...left)
    // In addition to the state and the statistics: the keys that keep Redis from storing them as lists; see
    // shared/queue/state.
    for (const [key, size] of sizes as [string, number][]) {
      const part = key.split(':').at(-1) ?? ''
      if (!['meta', 'notes', 'stats'].includes(part))
        expect([part, size]).toEqual([part === 'jobs' ? 'jobs' : 'leases', 1])
    }
    await this.#queue.clear()
  }

  #idOf(at: number): string {
    return at % 7 === 6 ? 'unknown' : (this.#ids.at(-1 - (at % 12)) ?? 'unknown')
  }
}

const policy = fc.constantFrom<Policy>('fail', 'cancel', 'run')
const which = fc.nat(50)
const dependencies = fc.array(which, { maxLength: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('enqueue' as const), dependencies, policy }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('claim' as const), limit: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('ack' as const, 'fail' as const, 'retry' as const), which }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'requeue' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), which, dependency: which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), which, dependencies, policy }) },
)

const RULES = 'jobs that wait for others are where the rules put them, and none waits for ever'
// bullmq#3362, bullmq#2464, bullmq#2644
test(RULES, { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const numRuns = countOf(10_000, 60)

  await fc.assert(
    fc.asyncProperty(history, (steps) => new History().play(steps)),
    { seed: SEED, numRuns },
  )
  tell(`queue: ${numRuns} random histories of jobs with dependencies, seed ${SEED}`)
})
