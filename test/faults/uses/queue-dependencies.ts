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
export function dependencySteps({ redis, name }: Place): readonly Step[] {
  const queue = redis.queue<Jobs>(`${name} dependencies`)
  let claimed: ClaimedJob<number>[] = []
  const claim = async (limit: number): Promise<string[]> => {
    claimed = await queue.claim({ limit, lease: HOUR })
    return namesOf(claimed)
  }
  const dependencies = [1, 2, 3, 4].map((payload) => ({ name: `p${payload}`, payload, id: `p${payload}` }))
  const dependents = [
    { name: 'of one', payload: 1, id: 'one', dependsOn: ['p1'] },
    { name: 'of two', payload: 2, id: 'two', dependsOn: ['p1', 'p2'] },
    { name: 'dies', payload: 3, id: 'dies', dependsOn: ['p3'] },
    { name: 'goes', payload: 4, id: 'goes', dependsOn: ['p4'], onDependencyFailure: 'cancel' as const },
  ]
  return [
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(dependencies))],
    ['enqueue', 'refuses', async () => void (await queue.enqueueMany(dependents))],
    ['change-dependencies', 'refuses', () => queue.jobs.addDependencies('one', ['p2'])],
    ['change-dependencies', 'serves', () => queue.jobs.removeDependencies('two', ['p2'])],
    ['ack-and-claim', 'serves', () => claim(4)],
    ['ack-and-claim', 'serves', async () => await claimed[0]?.ack('one')],
    ['dependencies', 'serves', async () => (await queue.jobs.dependencies('one')).map(({ state }) => state)],
    ['ack-and-claim', 'serves', async () => await claimed[1]?.ack('two')],
    ['fail', 'serves', async () => await claimed[2]?.fail({ kind: 'odd' })],
    ['cancel', 'refuses', async () => void (await queue.jobs.cancel(['p4']))],
    ['retry', 'serves', async () => claimed[3]?.retry().catch(() => 'gone')],
    ['inspect', 'serves', () => seen(queue)],
    ['ack-and-claim', 'serves', () => claim(9)],
    [
      'ack-and-enqueue',
      'serves',
      async () => void (await claimed[0]?.ackAndEnqueue({ name: 'next', payload: 5 })),
    ],
    ['inspect', 'serves', () => seen(queue)],
    ['clear', 'serves', async () => void (await queue.clear())],
  ]
}

/** The same over two queues: unreachable messages go by way of the outbox. */
export function outboxSteps({ redis, name }: Place): readonly Step[] {
  const near = redis.queue<Jobs>(`${name} near`)
  const far = redis.queue<Jobs>(`${name} far`)
  const hear = async (): Promise<string> => {
    await far.enqueue('dependency', 1, { id: 'dependency' })
    await near.enqueue('dependent', 2, {
      id: 'dependent',
      dependsOn: [{ queue: far.name, id: 'dependency' }],
    })
    const [job] = await far.claim({ lease: HOUR })
    await job?.ack('heard')
    await reaches(async () => {
      await Promise.all([near, far].map((queue) => queue.claim({ limit: 1, lease: HOUR })))
      return (await near.jobs.get('dependent'))?.state === 'claimed'
    })
    return (await near.jobs.dependencies('dependent')).map(({ result }) => String(result)).join()
  }
  const hand = async (): Promise<number> => {
    await far.enqueue('first', 1)
    const [job] = await far.claim({ lease: HOUR })
    await job?.ackAndEnqueue({ queue: near.name, name: 'second', payload: 2 })
    await reaches(async () => {
      await far.claim({ lease: HOUR })
      return (await near.settings.inspect()).ready === 1
    })
    return (await far.settings.inspect()).claimed
  }
  return [
    ['ack-and-claim', 'unasked', hear],
    ['ack-and-enqueue', 'unasked', hand],
    ['inspect', 'serves', () => seen(near)],
    ['clear', 'serves', async () => void (await near.clear())],
    ['clear', 'serves', async () => void (await far.clear())],
  ]
}
