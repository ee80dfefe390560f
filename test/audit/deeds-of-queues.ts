import type { ClaimedJob, Perilune, Queue } from 'perilune'
import type { Deed, Dice } from './deed.ts'

type Jobs = Record<string, number>

/** Queues, one of them in partitions. */
export function queueDeeds(redis: Perilune, dice: Dice): Deed[] {
  const plain = redis.queue<Jobs>('q')
  const spread = redis.queue<Jobs>('qp', { partitions: 3 })
  return [...deedsOf(plain, dice), ...deedsOf(spread as never, dice)]
}

function deedsOf(queue: Queue<Jobs>, dice: Dice): Deed[] {
  const claim = async (): Promise<ClaimedJob<number>[]> =>
    queue.claim({ limit: 1 + dice.upTo(5), lease: dice.oneOf(['200ms', '2s'] as const) })
  const each = async (settle: (job: ClaimedJob<number>) => Promise<unknown>): Promise<void> => {
    for (const job of await claim()) await settle(job)
  }
  return [
    ['enqueue', async () => queue.enqueue('plain', 1)],
    [
      'enqueue many',
      async () => queue.enqueueMany(Array.from({ length: 1 + dice.upTo(9) }, () => newJob(dice)) as never),
    ],
    ['claim and ack', async () => each((job) => job.ack())],
    [
      'claim and retry',
      async () => each((job) => job.retry({ delay: dice.oneOf(['0ms', '100ms', '10s'] as const) })),
    ],
    ['claim and fail', async () => each((job) => job.fail({ message: `e${dice.upTo(2)}` }))],
    ['claim and release', async () => each((job) => job.release())],
    ['claim and leave', async () => void (await claim())],
    ['cancel', async () => queue.jobs.cancel([`id${dice.upTo(9)}`])],
    ['requeue', async () => queue.jobs.requeue([`id${dice.upTo(9)}`])],
    ['reprioritize', async () => queue.jobs.reprioritize([`id${dice.upTo(9)}`], dice.upTo(9))],
    [
      'look',
      async () => queue.jobs.list(dice.oneOf(['ready', 'scheduled', 'claimed', 'dead', 'done'] as const)),
    ],
    ['group', async () => queue.settings.setGroup('ada', { concurrency: 1 + dice.upTo(2) })],
    ['group paused', async () => queue.settings.pauseGroup('bob')],
    ['group resumed', async () => queue.settings.resumeGroup('bob')],
    ['clear', async () => (dice.chance(0.02) ? queue.clear() : queue.inspect())],
  ]
}

function newJob(dice: Dice): object {
  return {
    name: dice.oneOf(['a', 'b']),
    payload: dice.upTo(99),
    ...(dice.chance(0.3) && { id: `id${dice.upTo(9)}` }),
    ...(dice.chance(0.3) && { delay: dice.oneOf(['30ms', '1s'] as const) }),
    ...(dice.chance(0.3) && { priority: dice.upTo(9) }),
    ...(dice.chance(0.3) && { group: dice.oneOf(['ada', 'bob']) }),
    ...(dice.chance(0.2) && { unique: `u${dice.upTo(3)}` }),
    ...(dice.chance(0.3) && { tags: ['t1', `t${dice.upTo(3)}`] }),
    ...(dice.chance(0.2) && { dependsOn: [`id${dice.upTo(9)}`] }),
    ...(dice.chance(0.2) && { idempotencyKey: `k${dice.upTo(9)}` }),
    ...(dice.chance(0.2) && { trace: 'trace' }),
    ...(dice.chance(0.2) && { resultTtl: dice.oneOf(['100ms', '1h'] as const) }),
  }
}
