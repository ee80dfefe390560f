import { clear } from '../generated/queue.ts'
import { checkInteger, checkOptions } from '../runtime/arguments.ts'
import { type Codec, jsonOf } from '../runtime/codec.ts'
import type { Duration } from '../runtime/duration.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { checkName } from '../runtime/keys.ts'
import { toLeaseMs } from '../runtime/lease-options.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { learnTold } from '../runtime/told.ts'
import { Unit } from '../runtime/unit.ts'
import type { Waiting } from '../runtime/wait.ts'
import { Chores } from './chores.ts'
import { ClaimedJob } from './claimed-job.ts'
import { type ClaimTerms, claimJobs } from './claiming.ts'
import { type Enqueued, Enqueuer, MAX_PAYLOAD_BYTES, type Outgoing, toOutgoing } from './enqueueing.ts'
import { type EventOptions, type QueueEvent, toFilter } from './events.ts'
import type { Handlers } from './handling.ts'
import { checkJobName, JOB_OPTIONS, type JobOptions, toSpecOptions } from './job-options.ts'
import { Jobs as JobList } from './jobs.ts'
import { type LentJobs, lendJobs } from './lending.ts'
import { listenTo } from './listening.ts'
import { Settings } from './settings.ts'
import { Settler } from './settling.ts'
import { SettlingByToken } from './settling-by-token.ts'
import type { Source } from './source.ts'
import { Worker, type WorkOptions } from './worker.ts'

export interface QueueOptions {
  /** How payloads and results become bytes; default JSON. */
  codec?: Codec<unknown>
}

export interface NewJob<Jobs extends object, Name extends keyof Jobs = keyof Jobs> extends JobOptions {
  name: Name & string
  payload: Jobs[Name]
}

export interface ClaimOptions extends Waiting {
  /** How many at most; default 1. */
  limit?: number
  /** How long they are claimed; nothing here extends them. Default 30 seconds. */
  lease?: Duration
  /** Jobs that are done: they are acked in the same call. See their `outcome`; null: that one was lost before. */
  acks?: readonly ClaimedJob[]
}

const LEND_OPTIONS = ['limit', 'lease', 'wait', 'signal'] as const
const CLAIM_OPTIONS = [...LEND_OPTIONS, 'acks'] as const
const SINCE = '6.2.0'

/**
 * Jobs that are done once: each is leased to one worker at a time, and comes back when that is lost. It runs at least
 * once, and perhaps again; that it is done is recorded once, by the attempt that holds it.
 *
 * `Jobs` maps the names of jobs to their payloads.
 */
export class Queue<Jobs extends object = Record<string, unknown>> {
  readonly name: string
  /** What is known of single jobs, and what can be done to them. */
  readonly jobs: JobList
  /** What holds for the whole queue, and for its groups. */
  readonly settings: Settings
  /** What becomes of lent jobs, told by whoever has their tokens. */
  readonly settle: SettlingByToken
  readonly #source: Source
  readonly #enqueuer: Enqueuer

  constructor(runtime: Runtime, name: string, options: QueueOptions) {
    checkOptions('options', options, ['codec'])
    this.name = checkName('name', name)
    const unit = new Unit(runtime, { structure: 'queue', name, since: SINCE })
    this.#source = {
      unit,
      codec: options.codec ?? jsonOf<unknown>('payload'),
      name,
      pace: { slowly: 0 },
      chores: new Chores({}),
    }
    this.#enqueuer = new Enqueuer(this.#source)
    this.jobs = new JobList(this.#source)
    this.settings = new Settings(this.#source)
    this.settle = new SettlingByToken(this.#source)
  }

  /**
   * Puts a job into the queue. Resolves when the server has it, with its id; `duplicate` when its own id or its unique
   * key was taken. Throws InvalidArgumentError.
   */
  async enqueue<Name extends keyof Jobs & string>(
    name: Name,
    payload: Jobs[Name],
    options?: JobOptions,
  ): Promise<Enqueued> {
    return this.#enqueuer.enqueue(this.#outgoing(name, payload, toSpecOptions(options)))
  }

  /** As `enqueue`, for many jobs, in order; a thousand travel together. Throws InvalidArgumentError. */
  async enqueueMany(jobs: readonly NewJob<Jobs>[]): Promise<Enqueued[]> {
    if (!Array.isArray(jobs)) throw new InvalidArgumentError('jobs', 'must be a list of jobs')
    const outgoing = (jobs as readonly NewJob<Jobs>[]).map((job) => {
      checkOptions('job', job, ['name', 'payload', ...JOB_OPTIONS])
      const { name, payload, ...options } = job
      return this.#outgoing(name, payload, toSpecOptions(options))
    })
    return this.#enqueuer.enqueueMany(outgoing)
  }

  /**
   * Claims jobs for the caller to ack, retry, bury and extend; `work` does all that by itself. Resolves to none when
   * there was none for `wait`. Throws the signal's reason, InvalidArgumentError.
   */
  async claim(options: ClaimOptions = {}): Promise<ClaimedJob<Jobs[keyof Jobs]>[]> {
    checkOptions('options', options, CLAIM_OPTIONS)
    const acks = checkAcks(options.acks ?? [])
    return claimJobs(this.#source, new Settler(this.#source), toClaimTerms(options), options, acks)
  }

  /**
   * As `claim`, for somebody else: this process hands the jobs on and keeps nothing of them. Whoever has the id and the
   * token of one names them to `settle`, in any process. Throws the signal's reason, InvalidArgumentError.
   */
  async lend(options: Omit<ClaimOptions, 'acks'> = {}): Promise<LentJobs<Jobs[keyof Jobs]>> {
    checkOptions('options', options, LEND_OPTIONS)
    return lendJobs(this.#source, toClaimTerms(options), options)
  }

  /** Starts to work on the jobs of the queue. Throws InvalidArgumentError. */
  work(handlers: Handlers<Jobs>, options: WorkOptions = {}): Worker<Jobs> {
    return new Worker(this.#source, handlers, options)
  }

  /**
   * What happens in the queue from now on, as it happens. Nothing is published but while somebody listens; what may have
   * been missed is told as a `gap`. The loop throws the signal's reason. Throws InvalidArgumentError.
   */
  events(options: EventOptions = {}): AsyncGenerator<QueueEvent, void, undefined> {
    return listenTo(this.#source, toFilter(options), options.signal)
  }

  /** Removes everything; workers lose their jobs. Resolves to false when there was nothing. */
  async clear(): Promise<boolean> {
    const { existed } = await this.#source.unit.run(clear, await learnTold(this.#source.unit))
    return existed
  }

  #outgoing(name: string, payload: unknown, options: ReturnType<typeof toSpecOptions>): Outgoing {
    const encoded = this.#source.codec.encode(payload)
    if (typeof encoded !== 'string' && !(encoded instanceof Uint8Array)) {
      throw new InvalidArgumentError('payload', 'must become text or bytes: the codec gave something else')
    }
    const outgoing = toOutgoing(checkJobName(name), encoded, options)
    if (outgoing.bytes > MAX_PAYLOAD_BYTES) {
      throw new InvalidArgumentError('payload', `must be at most ${MAX_PAYLOAD_BYTES} bytes when encoded`)
    }
    return outgoing
  }
}

function toClaimTerms({ limit = 1, lease = '30s' }: ClaimOptions): ClaimTerms {
  return { limit: checkInteger('limit', limit, 1, 200), leaseMs: toLeaseMs(lease) }
}

function checkAcks(acks: unknown): readonly ClaimedJob[] {
  const isList = Array.isArray(acks) && acks.length <= 200
  if (!isList || !acks.every((job) => job instanceof ClaimedJob)) {
    throw new InvalidArgumentError('acks', 'must be a list of at most 200 claimed jobs')
  }
  return acks
}
