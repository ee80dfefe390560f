// Jobs before they are sent: checked, encoded, and with the trace they belong to.

import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkOptions, checkText } from '../runtime/values/arguments.ts'
import { encodeJob, type OutgoingJob } from './jobs/enqueuer.ts'
import {
  checkJobName,
  JOB_OPTIONS,
  type JobOptions,
  type JobSpec,
  MAX_TEXT_BYTES,
  PLAIN,
  type SpecOptions,
  toSpecOptions,
} from './jobs/job-options.ts'
import type { QueueSource } from './source/source.ts'
import type { AttemptHooks } from './worker/attempts.ts'

export interface NewJob<Jobs extends object, Name extends keyof Jobs = keyof Jobs> extends JobOptions {
  name: Name & string
  payload: Jobs[Name]
}

const NEW_JOB: readonly string[] = ['name', 'payload', ...JOB_OPTIONS]

export class Preparer {
  readonly #source: Pick<QueueSource, 'codec' | 'checks'>
  readonly #hooks: QueueHooks
  /** The newest name that was found right: jobs come in rows of one name. */
  #rightName: string | null = null

  constructor(source: Pick<QueueSource, 'codec' | 'checks'>, hooks: QueueHooks) {
    this.#source = source
    this.#hooks = hooks
  }

  /** A promise where the schema of the payload takes its time. Throws InvalidArgumentError. */
  one(name: string, payload: unknown, options: JobOptions | undefined): OutgoingJob | Promise<OutgoingJob> {
    if (options !== undefined) checkOptions('options', options, JOB_OPTIONS)
    const outgoing = this.#toOutgoing(name, payload, options === undefined ? PLAIN : toSpecOptions(options))
    const checking = this.#source.checks?.check(name, payload, 'payload')
    return checking === undefined ? outgoing : checking.then(() => outgoing)
  }

  /** As `one`, for many: all are checked before the first is sent. */
  many<Jobs extends object>(jobs: readonly NewJob<Jobs>[]): OutgoingJob[] | Promise<OutgoingJob[]> {
    if (!Array.isArray(jobs)) throw new InvalidArgumentError('jobs', 'must be a list of jobs')
    const outgoing = (jobs as readonly NewJob<Jobs>[]).map((job) => {
      checkOptions('job', job, NEW_JOB)
      return this.#toOutgoing(job.name, job.payload, toSpecOptions(job))
    })
    const late = this.#checkPayloads(jobs)
    return late.length === 0 ? outgoing : Promise.all(late).then(() => outgoing)
  }

  #checkPayloads(jobs: readonly { name: string; payload: unknown }[]): Promise<void>[] {
    const { checks } = this.#source
    if (checks === null) return []
    return jobs
      .map(({ name, payload }, at) => checks.check(name, payload, `jobs[${at}].payload`))
      .filter((checking) => checking !== undefined)
  }

  #toOutgoing(name: string, payload: unknown, options: SpecOptions): OutgoingJob {
    if (name !== this.#rightName) this.#rightName = checkJobName(name)
    return encodeJob(this.#source.codec, name, payload, withTrace(options, this.#hooks))
  }
}

// Where tracing takes hold of a queue: what an enqueued job carries along, and what happens around each attempt.

export interface QueueHooks extends AttemptHooks {
  /** The trace of what is going on, such as a `traceparent`, for jobs that name none themselves; undefined: none. */
  trace?: () => string | undefined
}

/** Throws InvalidArgumentError. */
export function checkHooks(hooks: QueueHooks): QueueHooks {
  checkOptions('hooks', hooks, ['trace', 'around'])
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook !== undefined && typeof hook !== 'function') {
      throw new InvalidArgumentError(`hooks.${name}`, 'must be a function')
    }
  }
  return hooks
}

/** The options of a job, with the trace that it belongs to. Throws what the hook throws, InvalidArgumentError. */
export function withTrace<Options extends Pick<JobSpec, 'trace'>>(
  options: Options,
  { trace }: QueueHooks,
): Options {
  const current = options.trace === '' ? trace?.() : undefined
  if (current === undefined || current === '') return options
  return { ...options, trace: checkText('trace', current, MAX_TEXT_BYTES) }
}
