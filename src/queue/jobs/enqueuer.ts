// The jobs of one tick share one script call. The jobs of one `enqueueMany` stay together, as far as they fit into
// one call.

import { CHORES } from '../../generated/bits.ts'
import { enqueue, enqueueAlike } from '../../generated/queue.ts'
import type { Batcher, BatchTerms, SendBatch } from '../../runtime/calls/batcher.ts'
import type { RunInSlot } from '../../runtime/connection/unit.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { inGroups } from '../../runtime/iteration/in-groups.ts'
import { errorOfPart } from '../../runtime/iteration/in-parts.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import { within } from '../../runtime/time/in-time.ts'
import { type Codec, sizeOfEncoded } from '../../runtime/values/codec.ts'
import { INLINE_BYTES } from '../../runtime/values/inline-bytes.ts'
import { untilAnswered } from '../outbox/outbox.ts'
import { asCalledAt, idsOfQueue, placeId, withAddresses } from '../partitions/partitions.ts'
import { looksGiven, placeOf, type QueueSource, toId, toIds } from '../source/source.ts'
import { CALL, type JobSpec, PLAIN, type SpecOptions, workOf } from './job-options.ts'

export interface Enqueued {
  /** The id of the job: its own, or the one that the queue assigned. */
  readonly id: string
  /** True when its id, unique key or idempotency key was taken: nothing was enqueued, `id` is that of the other job. */
  readonly duplicate: boolean
}

const MAX_PAYLOAD_BYTES: number = 4 * 1024 * 1024
const BATCHES: BatchTerms = {
  name: enqueue.script.name,
  ...CALL,
  underWay: 2,
  waiting: 100_000,
}
const MAX_PLAIN_NAME_BYTES = 254

/** An encoded job, ready to be sent. */
export interface OutgoingJob {
  readonly name: string
  readonly payload: string | Uint8Array
  readonly options: SpecOptions
  /** Its share of a call, including the cost of its options. */
  readonly bytes: number
}

/** `name` must have been checked. Throws InvalidArgumentError. */
export function encodeJob(
  codec: Codec<unknown>,
  name: string,
  payload: unknown,
  options: SpecOptions,
): OutgoingJob {
  const encoded = codec.encode(payload)
  // One call carries both.
  const bytes = name.length + sizeOfEncoded('payload', encoded, MAX_PAYLOAD_BYTES - name.length)
  return { name, payload: encoded, options, bytes: bytes + workOf(options) }
}

/** The form that the script takes. */
export function toSpec({ name, payload, options }: OutgoingJob): JobSpec {
  return { ...options, name, payload }
}

/**
 * For jobs with dependencies in other queues: resolves when these queues were asked, successfully or not. Only such a
 * job waits for it, and only for its own queues.
 */
const asking = new WeakMap<Enqueued, Promise<void>>()

export class Enqueuer {
  readonly #source: QueueSource
  readonly #batch: string
  readonly #send: SendBatch<OutgoingJob, Enqueued>

  constructor(source: QueueSource) {
    this.#source = source
    this.#batch = `${source.unit.channel} ${source.spread} ${source.codec.name} enqueues`
    this.#send = (jobs, by) => source.unit.inSlot((run) => this.#enqueue(run, jobs, by), { by })
  }

  enqueue(job: OutgoingJob): Promise<Enqueued> {
    const enqueuing = this.#batcher().addOne(job, job.bytes)
    if (!hasDependencyElsewhere(job.options)) return enqueuing
    return enqueuing.then(async (enqueued) => {
      await this.#untilAsked([enqueued])
      return enqueued
    })
  }

  async enqueueMany(jobs: readonly OutgoingJob[]): Promise<Enqueued[]> {
    const enqueued = await this.#enqueueAll(jobs)
    if (jobs.some(({ options }) => hasDependencyElsewhere(options))) await this.#untilAsked(enqueued)
    return enqueued
  }

  /**
   * Waits until the queues of their dependencies know whom to notify. A queue that does not answer is asked again
   * later.
   */
  async #untilAsked(jobs: readonly Enqueued[]): Promise<void> {
    const all = new Set(jobs.flatMap((job) => asking.get(job) ?? []))
    const { deadlineMs } = this.#source.unit.runtime.runner
    await within(Promise.all(all), deadlineMs).catch(() => undefined)
  }

  async #enqueueAll(jobs: readonly OutgoingJob[]): Promise<Enqueued[]> {
    // One after the other: a call that is sent again must not arrive after the next one.
    const enqueued: Enqueued[] = []
    try {
      for (const chunk of inGroups(jobs, BATCHES)) enqueued.push(...(await this.#enqueueChunk(chunk)))
    } catch (error) {
      throw errorOfPart('jobs', enqueued.length, jobs.length, error)
    }
    return enqueued
  }

  #enqueueChunk(chunk: readonly OutgoingJob[]): Promise<Enqueued[]> {
    const bytes = chunk.reduce((sum, { bytes: each }) => sum + each, 0)
    return this.#batcher().add(chunk, bytes)
  }

  #batcher(): Batcher<OutgoingJob, Enqueued> {
    return this.#source.unit.runtime.batcher(this.#batch, BATCHES, this.#send)
  }

  async #enqueue(run: RunInSlot, jobs: readonly OutgoingJob[], by: number, proof = ''): Promise<Enqueued[]> {
    const name = nameOfAll(jobs)
    const enqueued = await (name === null
      ? this.#enqueueAny(run, jobs, proof)
      : this.#enqueueAlike(run, jobs, name, proof))
    if (enqueued !== null) return enqueued
    const { agreement, unit } = this.#source
    if (agreement === null)
      throw new TypeError('a queue without partitions answered that it is not agreed upon')
    return this.#enqueue(run, jobs, by, await agreement.prove(unit, by))
  }

  /** Null where the partition is not agreed upon. */
  async #enqueueAlike(
    run: RunInSlot,
    jobs: readonly OutgoingJob[],
    name: string,
    proof: string,
  ): Promise<Enqueued[] | null> {
    const { unit, codec, spread: partitions } = this.#source
    const { channel, sharded, counted } = unit.notifyChannel
    const payloads = jobs.map(({ payload }) => payload)
    // Written out: spreading several objects into one costs more than sending it.
    const answer = await run(enqueueAlike, ({ caller, call }) => {
      return { codec: codec.name, partitions, proof, caller, call, channel, sharded, counted, name, payloads }
    })
    if (answer.status === 'unagreed') return null
    return toIds(this.#source, answer.first, jobs.length).map((id) => ({ id, duplicate: false }))
  }

  /** Null where the partition is not agreed upon. */
  async #enqueueAny(run: RunInSlot, jobs: readonly OutgoingJob[], proof: string): Promise<Enqueued[] | null> {
    const { unit, codec, spread: partitions } = this.#source
    const specs = jobs.map(toSpec)
    const common = { codec: codec.name, partitions, proof, ...unit.notifyChannel }
    const answer = await run(enqueue, (id) => ({ ...common, ...id, specs }))
    if (answer.status === 'unagreed') return null
    const asked = this.#source.chores.see(answer.chores & CHORES.askAfter)
    void this.#source.chores.see(answer.chores & ~CHORES.askAfter)
    const enqueued = toEnqueued(this.#source, answer.first, specs, answer.duplicates)
    for (const [at, spec] of specs.entries()) {
      const queues = queuesOfDependencies(spec)
      if (queues.length === 0) continue
      asking.set(
        enqueued[at] as Enqueued,
        asked.then(() => untilAnswered(this.#source, queues)),
      )
    }
    return enqueued
  }
}

function toEnqueued(
  source: QueueSource,
  first: number,
  specs: readonly JobSpec[],
  duplicates: readonly { readonly at: number; readonly number: number }[],
): Enqueued[] {
  const enqueued = specs.map(({ id }, at) => ({
    id: id === '' ? toId(source, first + at) : id,
    duplicate: false,
  }))
  for (const { at, number } of duplicates) {
    const id = specs[at]?.id ?? ''
    enqueued[at] = { id: id === '' ? toId(source, number) : id, duplicate: true }
  }
  return enqueued
}

/** The common name of the jobs if all are plain and stored inline; else null. */
function nameOfAll(jobs: readonly OutgoingJob[]): string | null {
  const name = jobs[0]?.name ?? ''
  const areAlike = jobs.every(
    (job) => job.options === PLAIN && job.name === name && job.bytes <= INLINE_BYTES,
  )
  return areAlike && Buffer.byteLength(name) <= MAX_PLAIN_NAME_BYTES ? name : null
}

function hasDependencyElsewhere(spec: Pick<JobSpec, 'dependsOn'>): boolean {
  return queuesOfDependencies(spec).length > 0
}

/** The other queues in which the job has dependencies. */
function queuesOfDependencies({ dependsOn: dependencies }: Pick<JobSpec, 'dependsOn'>): string[] {
  if (dependencies === '') return []
  const elsewhere = dependencies.split('\0').filter((dependency) => dependency.startsWith('q'))
  return [...new Set(elsewhere.map((dependency) => dependency.slice(1, dependency.indexOf('\x01'))))]
}

// Routes the jobs of a partitioned queue: to which partition, and in which order.

export interface Routed {
  readonly job: OutgoingJob
  readonly partition: number
  /** Its index in the list. */
  readonly at: number
}

/** The partition that the options decide; null when they decide none. Throws InvalidArgumentError. */
export function homeOf({ group, id, unique, idempotencyKey }: SpecOptions, count: number): number | null {
  if (looksGiven(id)) throw new InvalidArgumentError('id', 'must not be digits, a dash and digits')
  const decisive = group || id || unique || idempotencyKey
  return decisive === '' ? null : partitionOf(decisive, count, group !== '' ? 'group' : 'id')
}

const LOCATED = 1000

export class Router {
  readonly #sources: readonly QueueSource[]
  readonly #find: (ids: readonly string[]) => Promise<(number | null)[]>
  #turn: number

  /** `find` locates jobs that have ids of their own. */
  constructor(sources: readonly QueueSource[], find: (ids: readonly string[]) => Promise<(number | null)[]>) {
    this.#sources = sources
    this.#find = find
    this.#turn = Math.floor(Math.random() * sources.length)
  }

  /** Throws InvalidArgumentError. */
  route(jobs: readonly OutgoingJob[]): Routed[] {
    return jobs.map((job, at) => {
      const given = this.#givenDependencies(job)
      const partition = homeOf(job.options, this.#sources.length) ?? given[0] ?? this.#next()
      return { job, partition, at }
    })
  }

  /**
   * Splits the jobs into steps: a job whose dependency goes to another partition is sent after that dependency is
   * stored.
   */
  async inSteps(routed: readonly Routed[]): Promise<Routed[][]> {
    if (routed.every(({ job }) => job.options.dependsOn === '')) return [[...routed]]
    const located = await this.#locate(routed)
    const steps: Routed[][] = [[]]
    let ofStep = new Map<string, number>()
    for (const each of routed) {
      const { partition, job } = each
      const dependencies = idsOfQueue(job.options.dependsOn, this.#queue)
      if (dependencies.some((id) => (ofStep.get(id) ?? partition) !== partition)) {
        steps.push([])
        ofStep = new Map()
      }
      steps.at(-1)?.push(this.#withDependencies(each, located))
      // Later jobs find it there.
      if (job.options.id !== '') {
        ofStep.set(job.options.id, partition)
        located.set(job.options.id, partition)
      }
    }
    return steps
  }

  get #queue(): QueueSource {
    return this.#sources[0] as QueueSource
  }

  #next(): number {
    this.#turn = (this.#turn + 1) % this.#sources.length
    return this.#turn
  }

  /** The partitions of dependencies whose ids name them. Throws InvalidArgumentError. */
  #givenDependencies({ options: { dependsOn: dependencies } }: OutgoingJob): number[] {
    if (dependencies === '') return []
    const places = idsOfQueue(dependencies, this.#queue).map((id) =>
      placeId(id, this.#sources.length, 'dependsOn'),
    )
    return places.flatMap((place) => place?.partition ?? [])
  }

  async #locate(routed: readonly Routed[]): Promise<Map<string, number>> {
    const named = routed.flatMap(({ job }) => idsOfQueue(job.options.dependsOn, this.#queue))
    const own = [...new Set(named)].filter((id) => placeOf(id) === null)
    const located = new Map<string, number>()
    for (let from = 0; from < own.length; from += LOCATED) {
      const ids = own.slice(from, from + LOCATED)
      for (const [at, partition] of (await this.#find(ids)).entries()) {
        if (partition !== null) located.set(ids[at] as string, partition)
      }
    }
    return located
  }

  #withDependencies(routed: Routed, located: ReadonlyMap<string, number>): Routed {
    const { job, partition } = routed
    const { options } = job
    if (options.dependsOn === '') return routed
    const addressed = withAddresses(options.dependsOn, this.#queue, (id) => located.get(id) ?? null)
    const { address } = this.#sources[partition] as QueueSource
    return { ...routed, job: { ...job, options: { ...options, dependsOn: asCalledAt(address, addressed) } } }
  }
}
