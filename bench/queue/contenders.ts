// Who is measured, in the order of the tables. A new contender is a line here.

import { beeQueue } from './bee-queue.ts'
import { bullmq, bullmqPipelined } from './bullmq.ts'
import type { Contender } from './contender.ts'
import { floor } from './floor.ts'
import { perilune } from './perilune.ts'
import { qless } from './qless.ts'

export const QUEUES: readonly Contender[] = [bullmq, beeQueue, qless, floor, perilune]

/** Where jobs are only added. */
export const ADDERS: readonly Contender[] = [bullmq, bullmqPipelined, ...QUEUES.slice(1)]
