import { checkOptions } from '../runtime/values/arguments.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { PartitionedQueue, type PartitionedQueueOptions } from './partitioned-queue.ts'
import { Queue } from './queue.ts'
import type { QueueOptions } from './queue-options.ts'

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
