import type { Queue } from 'perilune'
import { type Place, reaches, type Step } from './use.ts'

const FOREVER = { name: 'again', payload: 1 } as const

/** Jobs that recur: set, spawned by a claim, and given more times. */
export function recurringSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Record<string, number>>(`${name} recurring`)
  const known = async (): Promise<unknown[]> =>
    (await queue.recurring.list()).recurring.map(({ id, runs, nextAtMs }) => [id, runs, nextAtMs === null])
  return [
    [
      'recur',
      'refuses',
      async () => void (await queue.recurring.set('seldom', { ...FOREVER, every: '365d' })),
    ],
    ['recur', 'refuses', async () => void (await setByCron(queue, '0 0 1 1 *'))],
    ['refill', 'refuses', async () => void (await setByCron(queue, '0 0 2 1 *'))],
    ['recurrences', 'serves', known],
    ['unrecur', 'serves', async () => void (await queue.recurring.remove('yearly'))],
    ['recurrences', 'serves', known],
    ['ack-and-claim', 'unasked', () => spawnTwice(queue)],
    ['recurrences', 'serves', known],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** Two calls: the rule, and its times. */
function setByCron(queue: Queue<Record<string, number>>, cron: string): Promise<unknown> {
  return queue.recurring.set('yearly', { ...FOREVER, cron })
}

/** How many jobs two runs have, each claimed once. */
async function spawnTwice(queue: Queue<Record<string, number>>): Promise<number> {
  const ids = new Set<string>()
  await queue.recurring.set('twice', { ...FOREVER, every: '1s', limit: 2 })
  await reaches(async () => {
    for (const { id } of await queue.claim({ limit: 2, lease: '1h' })) ids.add(id)
    return (await queue.recurring.get('twice'))?.nextAtMs === null
  })
  return (await queue.settings.inspect()).enqueued
}
