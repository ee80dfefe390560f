import type { ClaimedJob, Queue } from 'perilune'
import { type Place, reaches, type Step } from './use.ts'

type Jobs = Record<string, number>

const HOUR = '1h'

const namesOf = (jobs: readonly { name: string }[]): string[] => jobs.map(({ name }) => name)

async function seen(queue: Queue<Jobs>): Promise<number[]> {
  const { ready, scheduled, blocked, claimed, dead, enqueued, acked, cancelled } =
    await queue.settings.inspect()
  return [ready, scheduled, blocked, claimed, dead, enqueued, acked, cancelled]
}

/** Jobs that wait for others, and jobs that follow others. */
export function parentSteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} parents`)
  let claimed: ClaimedJob<number>[] = []
  const claim = async (limit: number): Promise<string[]> => {
    claimed = await queue.claim({ limit, lease: HOUR })
    return namesOf(claimed)
  }
  const parents = [1, 2, 3, 4].map((payload) => ({ name: `p${payload}`, payload, id: `p${payload}` }))
  const children = [
    { name: 'of one', payload: 1, id: 'one', parents: ['p1'] },
    { name: 'of two', payload: 2, id: 'two', parents: ['p1', 'p2'] },
    { name: 'dies', payload: 3, id: 'dies', parents: ['p3'] },
    { name: 'goes', payload: 4, id: 'goes', parents: ['p4'], ifParentFails: 'cancel' as const },
  ]
  return [
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(parents))],
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(children))],
    ['change-parents', 'refuses', () => queue.jobs.addParents('one', ['p2'])],
    ['change-parents', 'serves', () => queue.jobs.removeParents('two', ['p2'])],
    ['ack-and-claim', 'serves', () => claim(4)],
    ['ack-and-claim', 'serves', async () => await claimed[0]?.ack('one')],
    ['parents', 'serves', async () => (await queue.jobs.parents('one')).map(({ state }) => state)],
    ['ack-and-claim', 'serves', async () => await claimed[1]?.ack('two')],
    ['bury', 'serves', async () => await claimed[2]?.bury({ kind: 'odd' })],
    ['cancel', 'refuses', async () => void (await queue.jobs.cancel(['p4']))],
    ['retry', 'serves', async () => claimed[3]?.retry().catch(() => 'gone')],
    ['inspect', 'serves', () => seen(queue)],
    ['ack-and-claim', 'serves', () => claim(9)],
    ['advance', 'serves', async () => void (await claimed[0]?.advance({ name: 'next', payload: 5 }))],
    ['inspect', 'serves', () => seen(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** The same over two queues: what one cannot reach goes by way of the outbox. */
export function outboxSteps({ redis, name }: Place): readonly Step[] {
  const near = redis.queue<Jobs>(`${name} near`)
  const far = redis.queue<Jobs>(`${name} far`)
  const hear = async (): Promise<string> => {
    await far.enqueue('parent', 1, { id: 'parent' })
    await near.enqueue('child', 2, { id: 'child', parents: [{ queue: far.name, id: 'parent' }] })
    const [job] = await far.claim({ lease: HOUR })
    await job?.ack('heard')
    await reaches(async () => {
      await Promise.all([near, far].map((queue) => queue.claim({ limit: 1, lease: HOUR })))
      return (await near.jobs.find('child'))?.state === 'claimed'
    })
    return (await near.jobs.parents('child')).map(({ result }) => String(result)).join()
  }
  const hand = async (): Promise<number> => {
    await far.enqueue('first', 1)
    const [job] = await far.claim({ lease: HOUR })
    await job?.advance({ queue: near.name, name: 'second', payload: 2 })
    await reaches(async () => {
      await far.claim({ lease: HOUR })
      return (await near.settings.inspect()).ready === 1
    })
    return (await far.settings.inspect()).claimed
  }
  return [
    ['ack-and-claim', 'unasked', hear],
    ['advance', 'unasked', hand],
    ['inspect', 'serves', () => seen(near)],
    ['clear', 'serves', async () => void (await near.clear())],
    ['clear', 'serves', async () => void (await far.clear())],
  ]
}
