// Jobs before they are sent: checked, encoded, and with the trace they belong to.

import { checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { encodeJob, type Outgoing } from './jobs/enqueuer.ts'
import { type QueueHooks, withTrace } from './worker/hooks.ts'
import {
  checkJobName,
  JOB_OPTIONS,
  type JobOptions,
  PLAIN,
  type SpecOptions,
  toSpecOptions,
} from './jobs/job-options.ts'
import type { Source } from './source/source.ts'

export interface NewJob<Jobs extends object, Name extends keyof Jobs = keyof Jobs> extends JobOptions {
  name: Name & string
  payload: Jobs[Name]
}

const NEW_JOB: readonly string[] = ['name', 'payload', ...JOB_OPTIONS]

export class Preparer {
  readonly #source: Pick<Source, 'codec' | 'checks'>
  readonly #hooks: QueueHooks
  /** The newest name that was found right: jobs come in rows of one name. */
  #rightName: string | null = null

  constructor(source: Pick<Source, 'codec' | 'checks'>, hooks: QueueHooks) {
    this.#source = source
    this.#hooks = hooks
  }

  /** A promise where the schema of the payload takes its time. Throws InvalidArgumentError. */
  one(name: string, payload: unknown, options: JobOptions | undefined): Outgoing | Promise<Outgoing> {
    if (options !== undefined) checkOptions('options', options, JOB_OPTIONS)
    const outgoing = this.#toOutgoing(name, payload, options === undefined ? PLAIN : toSpecOptions(options))
    const checking = this.#source.checks?.check(name, payload, 'payload')
    return checking === undefined ? outgoing : checking.then(() => outgoing)
  }

  /** As `one`, for many: all are checked before the first is sent. */
  many<Jobs extends object>(jobs: readonly NewJob<Jobs>[]): Outgoing[] | Promise<Outgoing[]> {
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

  #toOutgoing(name: string, payload: unknown, options: SpecOptions): Outgoing {
    if (name !== this.#rightName) this.#rightName = checkJobName(name)
    return encodeJob(this.#source.codec, name, payload, withTrace(options, this.#hooks))
  }
}
