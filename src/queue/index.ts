// What `perilune/queue` exports.

import * as operations from '../generated/queue.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { PartitionedQueue, type PartitionedQueueOptions, Queue, type QueueOptions } from './queue.ts'
import type { GivenBy, MadeBy, SchemasByName } from './source/schemas.ts'

export type { JobClaimOptions as ClaimOptions } from './claims/claims.ts'
export type { Jobs } from './jobs/jobs.ts'
export * from './names.ts'
export type { Settings } from './settings.ts'

/** For `preload` of a connection. */
export const queueScripts: StructureScripts = /* @__PURE__ */ scriptsOf('queue', operations)

/** Jobs in several slots; the schemas say what their payloads are. Throws InvalidArgumentError. */
export function queue<Schemas extends SchemasByName>(
  connection: HasRuntime,
  name: string,
  options: PartitionedQueueOptions & { schemas: Schemas },
): PartitionedQueue<MadeBy<Schemas>, GivenBy<Schemas>>
/** Jobs in several slots: one name, one worker, more than one core takes. Throws InvalidArgumentError. */
export function queue<Jobs extends object = Record<string, unknown>>(
  connection: HasRuntime,
  name: string,
  options: PartitionedQueueOptions,
): PartitionedQueue<Jobs>
/** Jobs, each done by one worker at a time; the schemas say what their payloads are. Throws InvalidArgumentError. */
export function queue<Schemas extends SchemasByName>(
  connection: HasRuntime,
  name: string,
  options: QueueOptions & { schemas: Schemas },
): Queue<MadeBy<Schemas>, GivenBy<Schemas>>
/** Jobs, each done by one worker at a time. `Jobs` maps their names to their payloads. Throws InvalidArgumentError. */
export function queue<Jobs extends object = Record<string, unknown>>(
  connection: HasRuntime,
  name: string,
  options?: QueueOptions,
): Queue<Jobs>
export function queue(
  connection: HasRuntime,
  name: string,
  options: QueueOptions | PartitionedQueueOptions = {},
): Queue | PartitionedQueue {
  return openQueue(runtimeOf(connection), name, options)
}

/** A queue, in partitions or not. Throws InvalidArgumentError. */
export function openQueue(
  runtime: Runtime,
  name: string,
  options: QueueOptions | PartitionedQueueOptions,
): Queue | PartitionedQueue {
  checkOptions('options', options, ['codec', 'schemas', 'partitions', 'hooks'])
  if ('partitions' in options) return new PartitionedQueue(runtime, name, options)
  return new Queue(runtime, name, options)
}
