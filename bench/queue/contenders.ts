// Who is measured, in the order of the tables. A new contender is a line here.

import { beeQueue } from './bee-queue.ts'
import { bullmq, bullmqPipelined } from './bullmq.ts'
import { bullmqHeard } from './bullmq-heard.ts'
import type { Contender } from './contender.ts'
import { floor } from './floor.ts'
import { perilune } from './perilune.ts'
import { periluneHeard } from './perilune-heard.ts'
import { qless } from './qless.ts'

/** The last two with a listener to all events. */
export const QUEUES: readonly Contender[] = [
  bullmq,
  beeQueue,
  qless,
  floor,
  perilune,
  bullmqHeard,
  periluneHeard,
]

/** Jobs are only added, without listeners. */
export const ADDERS: readonly Contender[] = [bullmq, bullmqPipelined, beeQueue, qless, floor, perilune]

/** Contenders whose costs next to many other jobs are measured. */
export const CROWDED: readonly Contender[] = [bullmq, beeQueue, qless, floor, perilune]
