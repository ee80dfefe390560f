// Jobs before they are sent: checked, encoded, and with the trace they belong to.

import { checkOptions } from '../runtime/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { encodeJob, type Outgoing } from './enqueueing.ts'
import { type QueueHooks, withTrace } from './hooks.ts'
import { JOB_OPTIONS, type JobOptions, toSpecOptions } from './job-options.ts'
import type { Source } from './source.ts'

export interface NewJob<Jobs extends object, Name extends keyof Jobs = keyof Jobs> extends JobOptions {
  name: Name & string
  payload: Jobs[Name]
}

export class Preparer {
  readonly #source: Pick<Source, 'codec' | 'checks'>
  readonly #hooks: QueueHooks

  constructor(source: Pick<Source, 'codec' | 'checks'>, hooks: QueueHooks) {
    this.#source = source
    this.#hooks = hooks
  }

  /** A promise where the schema of the payload takes its time. Throws InvalidArgumentError. */
  one(name: string, payload: unknown, options: JobOptions | undefined): Outgoing | Promise<Outgoing> {
    const outgoing = this.#toOutgoing(name, payload, options)
    const checking = this.#source.checks?.check(name, payload, 'payload')
    return checking === undefined ? outgoing : checking.then(() => outgoing)
  }

  /** As `one`, for many: all are checked before the first is sent. */
  many<Jobs extends object>(jobs: readonly NewJob<Jobs>[]): Outgoing[] | Promise<Outgoing[]> {
    if (!Array.isArray(jobs)) throw new InvalidArgumentError('jobs', 'must be a list of jobs')
    const outgoing = (jobs as readonly NewJob<Jobs>[]).map((job) => {
      checkOptions('job', job, ['name', 'payload', ...JOB_OPTIONS])
      const { name, payload, ...options } = job
      return this.#toOutgoing(name, payload, options)
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

  #toOutgoing(name: string, payload: unknown, options: JobOptions | undefined): Outgoing {
    return encodeJob(this.#source.codec, name, payload, withTrace(toSpecOptions(options), this.#hooks))
  }
}
