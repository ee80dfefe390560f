// Prepares jobs for sending: checks and encodes them, and adds their trace.

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
  /** The last name that passed the check: consecutive jobs often have the same name. */
  #rightName: string | null = null

  constructor(source: Pick<QueueSource, 'codec' | 'checks'>, hooks: QueueHooks) {
    this.#source = source
    this.#hooks = hooks
  }

  /** A promise if the schema of the payload is asynchronous. Throws InvalidArgumentError. */
  one(name: string, payload: unknown, options: JobOptions | undefined): OutgoingJob | Promise<OutgoingJob> {
    if (options !== undefined) checkOptions('options', options, JOB_OPTIONS)
    const outgoing = this.#toOutgoing(name, payload, options === undefined ? PLAIN : toSpecOptions(options))
    const checking = this.#source.checks?.check(name, payload, 'payload')
    return checking === undefined ? outgoing : checking.then(() => outgoing)
  }

  /** As `one`, for many jobs: all are checked before the first is sent. */
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

// The hooks of a queue for tracing: the trace of enqueued jobs, and a wrapper of each attempt.

export interface QueueHooks extends AttemptHooks {
  /** Returns the current trace, such as a `traceparent`, for jobs without one; undefined for none. */
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

/** Adds the current trace to the options of a job. Throws InvalidArgumentError, and what the hook throws. */
export function withTrace<Options extends Pick<JobSpec, 'trace'>>(
  options: Options,
  { trace }: QueueHooks,
): Options {
  const current = options.trace === '' ? trace?.() : undefined
  if (current === undefined || current === '') return options
  return { ...options, trace: checkText('trace', current, MAX_TEXT_BYTES) }
}
