// Where tracing takes hold of a queue: what an enqueued job carries along, and what happens around each attempt.

import { checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type JobSpec, MAX_TEXT_BYTES } from '../jobs/job-options.ts'

export interface QueueHooks {
  /** The trace of what is going on, such as a `traceparent`, for jobs that name none themselves; undefined: none. */
  trace?: () => string | undefined
  /**
   * Called for each attempt instead of its handler, which `run` calls: what it gives is the result of the attempt, and
   * what it throws its failure.
   */
  around?: (job: ClaimedJob, run: () => Promise<unknown>) => Promise<unknown>
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
