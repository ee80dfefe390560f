// Jobs that are done, and what follows them, in the same step.

import { advance } from '../../generated/queue.ts'
import { checkOptions } from '../../runtime/values/arguments.ts'
import type { CallId } from '../../runtime/calls/call-ids.ts'
import { checkName } from '../../runtime/values/keys.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import { toAddress, toId } from '../source/ids.ts'
import { encodeJob, toSpec } from '../jobs/enqueuer.ts'
import { type Leased, type LossReason, reasonsOf } from '../jobs/lease.ts'
import {
  checkJobName,
  JOB_OPTIONS,
  type JobOptions,
  type JobSpec,
  toSpecOptions,
} from '../jobs/job-options.ts'
import { asCalledAt, refuseOwn, withAddresses } from '../partitions/parent-addresses.ts'
import { homeOf } from '../jobs/router.ts'
import type { Source } from '../source/source.ts'

/** What follows a job. */
export interface NextJob extends JobOptions {
  /** Name of another queue, with the same codec; default: the queue of the job itself. */
  queue?: string
  name: string
  payload: unknown
}

export interface Advanced {
  /** What to call the new job; null where another queue will give it its id. */
  readonly id: string | null
  /** True when its id or unique key was taken: nothing was enqueued, `id` is that of the other job. */
  readonly duplicate: boolean
}

/** As the script takes it. */
export interface Step extends Leased, JobSpec {
  readonly result: string | Uint8Array
  readonly target: string
}

/** What a job is acked with and what follows it, whichever job that is. Throws InvalidArgumentError. */
export function toStep(
  next: NextJob,
  result: string | Uint8Array,
  source: Source,
): Omit<Step, 'number' | 'token'> {
  checkOptions('next', next, ['queue', 'name', 'payload', ...JOB_OPTIONS])
  const { queue, name, payload, ...options } = next
  const target = queue === undefined || queue === source.name ? '' : checkName('queue', queue)
  const job = encodeJob(source.codec, checkJobName(name), payload, toSpecOptions(options))
  const spec = { ...toSpec(job), result, target }
  return source.partition === null ? spec : inPartitions(spec, source)
}

/** Whether the payload fits the schema that its name has in this queue; a promise where that takes its time. Throws InvalidArgumentError. */
export function checkNext(next: NextJob, { checks, name }: Source): Promise<void> | undefined {
  // What is no step at all is refused by `toStep`.
  if (checks === null || typeof next !== 'object' || next === null) return undefined
  const isOwn = next.queue === undefined || next.queue === name
  return isOwn ? checks.check(next.name, next.payload, 'next.payload') : undefined
}

/** What belongs to no partition follows in that of the job itself. Throws InvalidArgumentError. */
function inPartitions<Spec extends JobSpec & { target: string }>(spec: Spec, source: Source): Spec {
  const { name, partitions: count } = source
  const isOwn = spec.target === ''
  const parents = withAddresses(spec.parents, source, refuseOwn, isOwn)
  const home = isOwn ? homeOf(spec, count) : null
  if (home === null) return { ...spec, parents }
  return { ...spec, parents, target: toAddress({ name, partition: { number: home, count } }) }
}

/** The step as the source that takes it calls its target and the parents of what follows. */
export function asCalledBy(source: Source, step: Step): Step {
  if (source.partition === null) return step
  const target = step.target === source.address ? '' : step.target
  return { ...step, target, parents: asCalledAt(target === '' ? source.address : target, step.parents) }
}

/** What became of each, in one call; that a job was lost is a value. */
export async function sendSteps(source: Source, steps: readonly Step[]): Promise<(Advanced | LossReason)[]> {
  const { unit, codec, chores } = source
  const told = await learnTold(unit)
  const args = (id: CallId) => ({ codec: codec.name, ...id, ...told, steps })
  const answer = await unit.runOnce(advance, args, { atClose: 'gives back' })
  void chores.see(answer.chores)
  const refused = reasonsOf(answer.refused)
  const duplicates = new Map(answer.duplicates.map(({ at, number }) => [at, number]))
  return steps.map(({ id, target }, at) => {
    const why = refused.get(at)
    if (why !== undefined) return why
    const number = target === '' ? toId(source, duplicates.get(at) ?? answer.first + at) : null
    return { id: id === '' ? number : id, duplicate: duplicates.has(at) }
  })
}
