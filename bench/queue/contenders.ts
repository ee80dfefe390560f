// Who is measured, in the order of the tables. A new contender is a line here.

import { beeQueue } from './bee-queue.ts'
import { bullmq, bullmqPipelined } from './bullmq.ts'
import { bullmqHeard } from './bullmq-heard.ts'
import type { Contender } from './contender.ts'
import { floor } from './floor.ts'
import { perilune } from './perilune.ts'
import { periluneHeard } from './perilune-heard.ts'
import { qless } from './qless.ts'

/** The last two while somebody listens to all that happens. */
export const QUEUES: readonly Contender[] = [
  bullmq,
  beeQueue,
  qless,
  floor,
  perilune,
  bullmqHeard,
  periluneHeard,
]

/** Where jobs are only added, and nobody listens. */
export const ADDERS: readonly Contender[] = [bullmq, bullmqPipelined, beeQueue, qless, floor, perilune]

/** Whose costs beside many other jobs are told. */
export const CROWDED: readonly Contender[] = [bullmq, beeQueue, qless, floor, perilune]
